package work_test

const inChild = "VERBATIM_WORK_TEST_STORE"

func child() int { return 0 }
