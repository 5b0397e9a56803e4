package utils // want names "says nothing" want layers "has no layer"
