package storetest

var queryCases []testCase
