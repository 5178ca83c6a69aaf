package main

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxMessage is Talos's limit for one message, in bytes.
const maxMessage = 32 << 20

// frame is one gRPC message that is passed on unread.
type frame struct{ payload []byte }

// rawCodec moves frames; it keeps the name of the protobuf codec, because that is what the bytes are.
type rawCodec struct{}

// Name implements encoding.CodecV2.
func (rawCodec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	message, ok := v.(*frame)
	if !ok {
		return nil, status.Errorf(codes.Internal, "front: cannot pass on a %T", v)
	}

	return mem.BufferSlice{mem.SliceBuffer(message.payload)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	message, ok := v.(*frame)
	if !ok {
		return status.Errorf(codes.Internal, "front: cannot read into a %T", v)
	}

	message.payload = data.Materialize()

	return nil
}

// route finds where a call goes and with which outgoing metadata.
type route func(ctx context.Context, method string) (*grpc.ClientConn, metadata.MD, error)

// passOn returns the handler of the front: it has no services of its own and passes every call to where route says,
// whatever its shape, with its messages, headers, trailers and status.
func passOn(find route) grpc.StreamHandler {
	return func(_ any, incoming grpc.ServerStream) error {
		method, ok := grpc.MethodFromServerStream(incoming)
		if !ok {
			return status.Error(codes.Internal, "front: call without a method")
		}

		conn, outgoingMetadata, err := find(incoming.Context(), method)
		if err != nil {
			return err
		}

		ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(incoming.Context(), outgoingMetadata))
		defer cancel()

		outgoing, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method,
			grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage))
		if err != nil {
			return err
		}

		go passRequests(incoming, outgoing, cancel)

		return passAnswers(incoming, outgoing)
	}
}

func passRequests(incoming grpc.ServerStream, outgoing grpc.ClientStream, cancel context.CancelFunc) {
	for {
		var message frame

		err := incoming.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			if outgoing.CloseSend() != nil {
				cancel()
			}

			return
		}

		if err != nil {
			cancel()

			return
		}

		if err := outgoing.SendMsg(&message); err != nil {
			// The answers' side learns the status.
			return
		}
	}
}

func passAnswers(incoming grpc.ServerStream, outgoing grpc.ClientStream) error {
	headersSent := false

	for {
		var message frame

		err := outgoing.RecvMsg(&message)

		if !headersSent {
			headersSent = true

			if headers, headerErr := outgoing.Header(); headerErr == nil && len(headers) > 0 {
				if err := incoming.SendHeader(headers); err != nil {
					return err
				}
			}
		}

		if err != nil {
			incoming.SetTrailer(outgoing.Trailer())

			if errors.Is(err, io.EOF) {
				return nil
			}

			return err
		}

		if err := incoming.SendMsg(&message); err != nil {
			return err
		}
	}
}
