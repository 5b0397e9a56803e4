package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// header returns mpi.h.
func (t *tables) header() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n%s", notice, headerHead)
	for _, c := range t.constants {
		switch {
		case c.Type == "alias":
			fmt.Fprintf(&b, "#define %-34s %s\n", c.Name, c.Value)
		case enumerated(c.Name):
		case c.Type == "integer" || c.Type == "int" && !strings.HasPrefix(c.Value, "-"):
			fmt.Fprintf(&b, "#define %-34s %s\n", c.Name, c.Value)
		case c.Type == "int":
			fmt.Fprintf(&b, "#define %-34s (%s)\n", c.Name, c.Value)
		default:
			fmt.Fprintf(&b, "#define %-34s ((%s)%s)\n", c.Name, strings.TrimSuffix(strings.ReplaceAll(c.Type, "*", " *"), " "), c.Value)
		}
	}
	b.WriteString("\n/* Types of callbacks. */\n")
	for _, c := range t.callbacks {
		fmt.Fprintf(&b, "typedef %s (%s)(%s);\n", c.Returns, c.Name, parameters(c.Params))
	}
	for _, prefix := range []string{"MPI_", "PMPI_"} {
		fmt.Fprintf(&b, "\n/* Procedures with the prefix %s. */\n", prefix)
		for _, p := range t.procedures {
			for _, q := range []*abi.Procedure{p, p.Large} {
				if q != nil {
					fmt.Fprintf(&b, "%s;\n", prototype(q, prefix))
				}
			}
		}
	}
	b.WriteString(t.aliases())
	b.WriteString(headerTail)
	return b.Bytes()
}

// prototype returns the declaration of a procedure with the prefix MPI_ or PMPI_.
func prototype(p *abi.Procedure, prefix string) string {
	return fmt.Sprintf("%s %s(%s)", p.Returns, symbol(p, prefix), parameters(p.Params))
}

// symbol returns the name of a procedure with the prefix MPI_ or PMPI_.
func symbol(p *abi.Procedure, prefix string) string {
	if prefix == "PMPI_" {
		return "P" + p.Name
	}
	return p.Name
}

func parameters(list []abi.Param) string {
	if len(list) == 0 {
		return "void"
	}
	var texts []string
	for _, p := range list {
		texts = append(texts, declaration(p))
	}
	return strings.Join(texts, ", ")
}

// declaration declares a parameter of a function. An array that may be MPI_UNWEIGHTED or
// MPI_WEIGHTS_EMPTY is declared as a pointer, which is the same to the language: for an array, gcc
// warns that these constants are no addresses of one.
func declaration(p abi.Param) string {
	name, array := strings.CutSuffix(p.Text, "weights[]")
	if !array {
		return p.Text
	}
	at := strings.LastIndex(name, " ") + 1
	return name[:at] + "*" + name[at:] + "weights"
}

// enumerated reports whether a constant belongs to one of the two enumerations of chapter 15.
func enumerated(name string) bool {
	return strings.HasPrefix(name, "MPI_T_CB_REQUIRE_") || strings.HasPrefix(name, "MPI_T_SOURCE_")
}

const headerHead = `/* mpi.h: the standard ABI of MPI 5.0, and extensions of Halo (MPIX_). */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* Handles: predefined ones are constants; only the library knows what others mean. */
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;
typedef struct MPIX_ABI_Sync *MPIX_Sync;
typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;

typedef enum {
	MPI_T_CB_REQUIRE_NONE = 0x00,
	MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03,
	MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0F,
	MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3F
} MPI_T_cb_safety;

typedef enum {
	MPI_T_SOURCE_ORDERED = 1,
	MPI_T_SOURCE_UNORDERED = 2
} MPI_T_source_order;

`

const headerTail = `
#ifdef __cplusplus
}
#endif

/* MPI_Fint, and conversions of handles and statuses for Fortran, which are not part of the ABI. */
#ifndef HALO_NO_F2C
#include "mpi_f2c.h"
#endif

#endif
`
