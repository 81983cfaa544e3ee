// A racer with franz-go. Its arguments, its measured part and its last line are those of dev.millrace.race.Racer, but it knows
// no rate, and every record has a callback.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// One send in so many is timed, and one acknowledgement in so many, on average.
const sendsPerTimed, sendsPerSample = 16, 1000

// Whether the time is over is looked at once in so many sends.
const sendsPerLookAtClock = 256

// The same as buffer.memory and the heap of the Java clients.
const bufferBytes, heapBytes = 32 << 20, 1 << 30

// Room for what a record needs besides its value.
const overheadBytes = 1024

var arguments = map[string]string{}

func text(name string) string {
	value, given := arguments[name]
	if !given {
		check(fmt.Errorf("argument %s= is missing", name))
	}
	return value
}

func number(name string) int {
	value, err := strconv.Atoi(text(name))
	check(err)
	return value
}

// Ends the process on any error, in any goroutine.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	go func() { // Ends this process when the race ends, which closes standard input.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	for _, argument := range os.Args[1:] {
		name, value, _ := strings.Cut(argument, "=")
		arguments[name] = value
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapBytes)

	client, err := kgo.NewClient(options()...)
	check(err)
	counter := newArrivalCounter()
	warmup, measured := limit{records: number("warmup")}, limit{records: number("records")}
	if seconds := number("seconds"); seconds > 0 {
		measured = limit{math.MaxInt, time.Duration(seconds) * time.Second}
	}
	leastWarmup := time.Duration(number("warmup_ms")) * time.Millisecond
	all := prepare()

	before, start, warmed := counter.count(), time.Now(), 0
	for again := true; again; again = time.Since(start) < leastWarmup {
		_, sent := send(client, all, warmup)
		warmed += sent
	}
	arrived := counter.count()
	checkArrived(warmed, arrived-before)
	runtime.GC()
	turns := number("turns")
	for range max(1, turns) {
		if turns > 0 {
			pause()
		}
		figures, sent := send(client, all, measured)
		before, arrived = arrived, counter.count()
		checkArrived(sent, arrived-before)
		line, err := json.Marshal(figures)
		check(err)
		fmt.Println(string(line))
	}
	if turns > 0 {
		pause()
	}
}

// Does what dev.millrace.race.PauseFile does.
func pause() {
	file := text("pause_file")
	check(os.WriteFile(file, nil, 0o600))
	for exists := true; exists; {
		time.Sleep(5 * time.Millisecond)
		_, err := os.Stat(file)
		exists = err == nil
	}
}

func options() []kgo.Opt {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	// The Java clients send a record that is larger than a batch in a batch of its own; franz-go refuses it.
	batchBytes := max(number("config.batch.size"), number("size")+overheadBytes)
	options := []kgo.Opt{
		seeds(),
		kgo.DefaultProduceTopic(text("topic")),
		kgo.ProducerLinger(time.Duration(number("config.linger.ms")) * time.Millisecond),
		kgo.ProducerBatchMaxBytes(int32(batchBytes)),
		kgo.ProducerBatchCompression(codecs[text("config.compression.type")]),
		kgo.MaxBufferedRecords(bufferBytes), // more than fit into the memory
		kgo.MaxBufferedBytes(bufferBytes),
	}
	if text("config.acks") == "1" {
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(),
			kgo.MaxProduceRequestsInflightPerBroker(5)) // as the Java clients
	}
	if text("partition_choice") == "partition" {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	return options
}

func seeds() kgo.Opt {
	return kgo.SeedBrokers(strings.Split(text("config.bootstrap.servers"), ",")...)
}

// Counts the records that have arrived, as dev.millrace.race.ArrivalCounter does, with a client of its own.
type arrivalCounter struct {
	client *kgo.Client
	own    int
}

func newArrivalCounter() *arrivalCounter {
	client, err := kgo.NewClient(
		seeds(), kgo.DefaultProduceTopic(text("topic")), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	check(err)
	return &arrivalCounter{client: client}
}

func (a *arrivalCounter) count() int {
	partitions := number("partitions")
	probes := make([]*kgo.Record, partitions)
	for i := range probes {
		probes[i] = &kgo.Record{Partition: int32(i)}
	}
	all := 0
	results := a.client.ProduceSync(context.Background(), probes...)
	check(results.FirstErr())
	for _, result := range results {
		all += int(result.Record.Offset)
	}
	others := all - a.own
	a.own += partitions
	return others
}

func checkArrived(sent, arrived int) {
	if sent != arrived {
		check(fmt.Errorf("%d of %d records arrived", arrived, sent))
	}
}

// Makes the records of each thread, with the counts and contents of dev.millrace.race.PreparedRecords.
func prepare() [][]kgo.Record {
	const count, countToCompress, maxBytes, keyBytes = 4096, 32768, 64 << 20, 16
	size, partitions, threads, step := number("size"), number("partitions"), number("threads"), number("step")
	most := count
	if text("config.compression.type") != "none" {
		most = countToCompress
	}
	rounds := max(1, min(most, maxBytes/max(1, size))/threads/partitions)
	all := make([][]kgo.Record, threads)
	for thread := range all {
		random := rand.NewChaCha8([32]byte{byte(thread), byte(thread >> 8)})
		records := make([]kgo.Record, rounds*partitions)
		for i := range records {
			value := []byte(strings.Repeat("m", size))
			_, _ = random.Read(value[:size/2])
			records[i].Value = value
			switch text("partition_choice") {
			case "partition":
				records[i].Partition = int32((thread + i*step) % partitions)
			case "key":
				records[i].Key = make([]byte, keyBytes)
				_, _ = random.Read(records[i].Key)
			}
		}
		all[thread] = records
	}
	return all
}

// The times of the sampled acknowledgements, in nanoseconds.
type acks struct {
	lock  sync.Mutex
	nanos []int64
}

func (a *acks) add(nanos int64) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.nanos = append(a.nanos, nanos)
}

// When to end: after so many records of all threads together, or after a time, if there is one.
type limit struct {
	records int
	time    time.Duration
}

// Sends by all threads together, and measures from when all of them start until all records are acknowledged. Returns also how
// many records it has sent.
func send(client *kgo.Client, prepared [][]kgo.Record, most limit) (map[string]float64, int) {
	threads := len(prepared)
	sends, counts, acks := make([][]int64, threads), make([]int, threads), &acks{}
	var ready, done sync.WaitGroup
	barrier := make(chan struct{})
	for thread, own := range prepared {
		share := limit{most.records / threads, most.time}
		if thread < most.records%threads {
			share.records++
		}
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-barrier
			sends[thread], counts[thread] = sendShare(client, own, share, acks)
		})
	}
	ready.Wait()
	cpuBefore, start := cpuNanos(), time.Now()
	close(barrier)
	done.Wait()
	check(client.Flush(context.Background()))
	nanos, cpu, records := time.Since(start), cpuNanos()-cpuBefore, 0
	for _, count := range counts {
		records += count
	}

	figures := map[string]float64{
		"records_per_s":     float64(records) / nanos.Seconds(),
		"cpu_ns_per_record": float64(cpu) / float64(records),
	}
	addTimes(figures, slices.Concat(sends...), 1e3, map[string]float64{
		"send_p50_us": 0.5, "send_p99_us": 0.99, "send_p999_us": 0.999, "send_max_us": 1})
	addTimes(figures, acks.nanos, 1e6, map[string]float64{"ack_p50_ms": 0.5, "ack_p99_ms": 0.99})
	return figures, records
}

// Sends the records of one thread, and returns the nanoseconds of the sends that were timed, and the number of all.
func sendShare(client *kgo.Client, records []kgo.Record, most limit, acks *acks) ([]int64, int) {
	var sends []int64
	usual := func(_ *kgo.Record, err error) { check(err) }
	untilTimed, untilSampled, begun := 1, 1, time.Now()
	for i := range most.records {
		if most.time > 0 && i%sendsPerLookAtClock == 0 && time.Since(begun) >= most.time {
			return sends, i
		}
		// franz-go keeps the record until it is acknowledged, so each send needs a new one.
		record := records[i%len(records)]
		promise := usual
		if untilSampled--; untilSampled == 0 {
			untilSampled = 1 + rand.IntN(2*sendsPerSample-1)
			sent := time.Now()
			promise = func(_ *kgo.Record, err error) {
				acks.add(time.Since(sent).Nanoseconds())
				check(err)
			}
		}
		if untilTimed--; untilTimed > 0 {
			client.Produce(context.Background(), &record, promise)
		} else {
			untilTimed = 1 + rand.IntN(2*sendsPerTimed-1)
			start := time.Now()
			client.Produce(context.Background(), &record, promise)
			sends = append(sends, time.Since(start).Nanoseconds())
		}
	}
	return sends, most.records
}

func cpuNanos() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// Adds quantiles of some times under their names, or nothing if nothing was timed.
func addTimes(figures map[string]float64, nanos []int64, nanosPerUnit float64, quantiles map[string]float64) {
	slices.Sort(nanos)
	for name, quantile := range quantiles {
		if len(nanos) > 0 {
			at := min(len(nanos)-1, int(quantile*float64(len(nanos))))
			figures[name] = float64(nanos[at]) / nanosPerUnit
		}
	}
}
