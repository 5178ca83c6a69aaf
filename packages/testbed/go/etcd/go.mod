module ichor.dev/testbed/etcd

go 1.26.0
