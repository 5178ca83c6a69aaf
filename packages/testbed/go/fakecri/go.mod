module ichor.dev/testbed/fakecri

go 1.26.0
