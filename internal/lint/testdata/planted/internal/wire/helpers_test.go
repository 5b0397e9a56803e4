package wire // want names "helpers_test.go"
