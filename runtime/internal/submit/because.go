package submit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// Because says why a connection failed, in an operator's words. Other errors keep their own.
func Because(err error) string {
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var unfit x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	var call syscall.Errno
	var late net.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "no machine has this name"
	case errors.As(err, &name):
		return "the name cannot be looked up"
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that this machine does not know; SSL_CERT_FILE names a file with the authorities to trust"
	case errors.As(err, &other):
		return "its certificate is not for this name"
	case errors.As(err, &unfit) && unfit.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.As(err, &plain):
		return "what listens there does not begin with TLS"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return "it does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		return "it ended the connection"
	case errors.As(err, &call):
		return call.Error()
	}
	return err.Error()
}
