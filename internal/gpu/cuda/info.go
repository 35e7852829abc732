//go:build linux && !nogpu && (amd64 || arm64)

package cuda

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// CUdevice_attribute
const (
	attrSharedPerBlock = 8
	attrClock          = 13
	attrSMs            = 16
	attrMemoryClock    = 36
	attrBusWidth       = 37
	attrL2             = 38
	attrThreadsPerSM   = 39
	attrAsyncEngines   = 40
	attrMajor          = 75
	attrMinor          = 76
	attrSharedOptIn    = 97
)

// Devices lists the devices that the driver finds, without opening them.
func Devices() ([]driver.Info, error) {
	if err := load(); err != nil {
		return nil, err
	}
	var n int32
	if err := check("cuDeviceGetCount", call(cu.DeviceGetCount, uintptr(unsafe.Pointer(&n)))); err != nil {
		return nil, fmt.Errorf("%w: %w", errNone, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: the driver finds none", errNone)
	}
	list := make([]driver.Info, 0, n)
	for i := range int(n) {
		info, _, err := describe(i)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// describe returns the properties of a device, and its CUdevice.
func describe(ordinal int) (driver.Info, int32, error) {
	info := driver.Info{Ordinal: ordinal, Driver: driverName()}
	var dev int32
	if err := check("cuDeviceGet", call(cu.DeviceGet, uintptr(unsafe.Pointer(&dev)), uintptr(ordinal))); err != nil {
		return info, 0, err
	}
	var text [256]byte
	if err := check("cuDeviceGetName",
		call(cu.DeviceGetName, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)),
			uintptr(dev))); err != nil {
		return info, 0, err
	}
	info.Name = cText(text[:])
	if call(cu.DeviceGetPCIBusId, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), uintptr(dev)) == 0 {
		info.PCI = cText(text[:])
	}
	var uuid [16]byte
	if call(cu.DeviceGetUuid, uintptr(unsafe.Pointer(&uuid[0])), uintptr(dev)) == 0 {
		info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:])
	}
	var total uint64
	if err := check("cuDeviceTotalMem",
		call(cu.DeviceTotalMem_v2, uintptr(unsafe.Pointer(&total)), uintptr(dev))); err != nil {
		return info, 0, err
	}
	info.Memory = int64(total)
	for attr, to := range map[uintptr]*int{
		attrSharedPerBlock: &info.SharedPerBlock, attrClock: &info.ClockKHz, attrSMs: &info.Multiprocessors,
		attrMemoryClock: &info.MemoryClockKHz, attrBusWidth: &info.MemoryBusBits, attrL2: &info.L2,
		attrThreadsPerSM: &info.ThreadsPerSM, attrAsyncEngines: &info.AsyncEngines, attrMajor: &info.Major,
		attrMinor: &info.Minor, attrSharedOptIn: &info.SharedOptIn,
	} {
		var v int32
		if err := check("cuDeviceGetAttribute",
			call(cu.DeviceGetAttribute, uintptr(unsafe.Pointer(&v)), attr,
				uintptr(dev))); err != nil {
			return info, 0, err
		}
		*to = int(v)
	}
	return info, dev, nil
}

func cText(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
