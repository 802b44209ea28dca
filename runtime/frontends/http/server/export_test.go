package server

import "time"

// A slow machine is no store that is silent.
func init() { leaseWait = time.Minute }
