package pool_test

func lone() bool { return false }
