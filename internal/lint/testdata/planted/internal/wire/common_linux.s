// want names "common_linux.s"
