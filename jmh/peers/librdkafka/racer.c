/* A racer with librdkafka. Its arguments, its measured part and its last line are those of dev.millrace.race.Racer, but it knows
 * no rate. Every record has a delivery report; one thread polls all of them. */
#define _GNU_SOURCE
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One send in so many is timed, and one acknowledgement in so many, on average. */
#define SENDS_PER_TIMED 16
#define SENDS_PER_SAMPLE 1000

/* Whether the time is over is looked at once in so many sends. */
#define SENDS_PER_LOOK_AT_CLOCK 256

#define KEY_BYTES 16
#define POLL_MILLIS 100

/* The same memory and requests in flight as the Java clients, and more records than the memory holds, unless they are empty. */
#define BUFFER_KBYTES "32768"
#define BUFFER_RECORDS "10000000"
#define IN_FLIGHT "5"

/* What a broker accepts by default. */
#define LARGEST_RECORD "1048588"

static int argument_count;
static char **arguments;

_Noreturn static void fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    _exit(1);
}

static const char *text(const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < argument_count; i++) {
        if (!strncmp(arguments[i], name, length) && arguments[i][length] == '=') {
            return arguments[i] + length + 1;
        }
    }
    fail("argument %s= is missing", name);
}

static int64_t number(const char *name) {
    char *end;
    const char *value = text(name);
    int64_t number = strtoll(value, &end, 10);
    if (!*value || *end) {
        fail("%s=%s is not a number", name, value);
    }
    return number;
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fail("no memory for %zu bytes", bytes);
    }
    return memory;
}

static int64_t nanos(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t now(void) {
    return nanos(CLOCK_MONOTONIC);
}

/* SplitMix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* From 1 to 2 * mean - 1. */
static int random_gap(uint64_t *state, int mean) {
    return 1 + (int) (next_random(state) % (uint64_t) (2 * mean - 1));
}

struct times {
    int64_t *nanos;
    size_t count, room;
};

static void add(struct times *times, int64_t nanos) {
    if (times->count == times->room) {
        times->room = times->room ? 2 * times->room : 1024;
        times->nanos = realloc(times->nanos, times->room * sizeof *times->nanos);
        if (!times->nanos) {
            fail("no memory for %zu times", times->room);
        }
    }
    times->nanos[times->count++] = nanos;
}

static int compare(const void *a, const void *b) {
    int64_t first = *(const int64_t *) a, second = *(const int64_t *) b;
    return (first > second) - (first < second);
}

/* The opaque pointer of a record whose delivery is timed or whose offset is needed. */
struct delivery {
    struct delivery *next;
    int64_t sent, taken, offset;
};

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    (void) producer;
    (void) opaque;
    if (message->err) {
        fail("a record was refused: %s", rd_kafka_err2str(message->err));
    }
    struct delivery *delivery = message->_private;
    if (delivery) {
        delivery->taken = now() - delivery->sent;
        delivery->offset = message->offset;
    }
}

static rd_kafka_t *producer;
static rd_kafka_topic_t *topic;

static void open_producer(void) {
    static const char *const passed_on[] = {"bootstrap.servers", "linger.ms", "batch.size", "acks", "enable.idempotence",
                                            "compression.type"};
    static const char *const own[][2] = {{"queue.buffering.max.kbytes", BUFFER_KBYTES},
                                         {"queue.buffering.max.messages", BUFFER_RECORDS},
                                         {"max.in.flight.requests.per.connection", IN_FLIGHT},
                                         {"message.max.bytes", LARGEST_RECORD}};
    char error[512];
    rd_kafka_conf_t *config = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        char name[64];
        snprintf(name, sizeof name, "config.%s", passed_on[i]);
        if (rd_kafka_conf_set(config, passed_on[i], text(name), error, sizeof error)) {
            fail("%s", error);
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (rd_kafka_conf_set(config, own[i][0], own[i][1], error, sizeof error)) {
            fail("%s", error);
        }
    }
    rd_kafka_conf_set_dr_msg_cb(config, delivered);
    producer = rd_kafka_new(RD_KAFKA_PRODUCER, config, error, sizeof error);
    if (!producer) {
        fail("%s", error);
    }
    topic = rd_kafka_topic_new(producer, text("topic"), NULL);
    if (!topic) {
        fail("%s", rd_kafka_err2str(rd_kafka_last_error()));
    }
}

static void *poll_deliveries(void *unused) {
    for (;;) {
        rd_kafka_poll(producer, POLL_MILLIS);
    }
    return unused;
}

/* Ends this process when the race ends, which closes standard input. */
static void *end_with_parent(void *unused) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    _exit(1);
    return unused;
}

static void start_thread(void *(*body)(void *), void *argument, pthread_t *thread) {
    if (pthread_create(thread, NULL, body, argument)) {
        fail("no thread can be started");
    }
}

static void flush(void) {
    rd_kafka_resp_err_t error = rd_kafka_flush(producer, -1);
    if (error) {
        fail("flush: %s", rd_kafka_err2str(error));
    }
}

/* NULL stands for a null key or value. Waits while the queue is full. */
static void produce(int32_t partition, void *key, void *value, size_t size, struct delivery *delivery) {
    int flags = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
    if (rd_kafka_produce(topic, partition, flags, value, size, key, key ? KEY_BYTES : 0, delivery)) {
        fail("a record was refused: %s", rd_kafka_err2str(rd_kafka_last_error()));
    }
}

/* Counts the records that have arrived, as dev.millrace.race.ArrivalCounter. */
static int64_t count_arrivals(void) {
    static int64_t probes_before;
    int64_t partitions = number("partitions"), all = 0;
    struct delivery *probes = allocate((size_t) partitions * sizeof *probes);
    for (int64_t i = 0; i < partitions; i++) {
        produce((int32_t) i, NULL, NULL, 0, &probes[i]);
    }
    flush();
    for (int64_t i = 0; i < partitions; i++) {
        all += probes[i].offset;
    }
    free(probes);
    int64_t others = all - probes_before;
    probes_before += partitions;
    return others;
}

static void check_arrived(int64_t sent, int64_t arrived) {
    if (sent != arrived) {
        fail("%lld of %lld records arrived", (long long) arrived, (long long) sent);
    }
}

struct record {
    int32_t partition;
    char *key, *value;
};

/* The records that one thread sends again and again, and what it measured. */
struct sender {
    pthread_t thread;
    struct record *records;
    int64_t record_count, share, nanos, sent;
    size_t size;
    struct times sends;
    struct delivery *sampled;
};

static char *random_bytes(uint64_t *random, size_t size, size_t random_size) {
    char *bytes = allocate(size);
    memset(bytes, 'm', size);
    for (size_t i = 0; i < random_size; i++) {
        bytes[i] = (char) next_random(random);
    }
    return bytes;
}

/* Makes the records, with the counts and contents of dev.millrace.race.PreparedRecords. */
static struct sender *prepare(void) {
    int64_t threads = number("threads"), partitions = number("partitions"), size = number("size"), step = number("step");
    bool by_partition = !strcmp(text("partition_choice"), "partition"), by_key = !strcmp(text("partition_choice"), "key");
    int64_t most = strcmp(text("config.compression.type"), "none") ? 32768 : 4096;
    int64_t most_by_size = (64 << 20) / (size > 0 ? size : 1);
    int64_t rounds = (most < most_by_size ? most : most_by_size) / threads / partitions;
    struct sender *senders = allocate((size_t) threads * sizeof *senders);
    for (int64_t t = 0; t < threads; t++) {
        uint64_t random = (uint64_t) t << 32;
        int64_t count = (rounds > 0 ? rounds : 1) * partitions;
        struct record *records = allocate((size_t) count * sizeof *records);
        for (int64_t i = 0; i < count; i++) {
            records[i].partition = by_partition ? (int32_t) ((t + i * step) % partitions) : RD_KAFKA_PARTITION_UA;
            records[i].key = by_key ? random_bytes(&random, KEY_BYTES, KEY_BYTES) : NULL;
            records[i].value = random_bytes(&random, (size_t) size, (size_t) size / 2);
        }
        senders[t] = (struct sender){.records = records, .record_count = count, .size = (size_t) size};
    }
    return senders;
}

/* All threads wait here twice: until all have started, and until all may send. */
static pthread_barrier_t barrier;

static void *send_share(void *argument) {
    struct sender *sender = argument;
    uint64_t random = (uint64_t) now() ^ (uintptr_t) sender;
    int until_timed = 1, until_sampled = 1;
    int64_t next = 0;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    int64_t begun = now();
    for (sender->sent = 0; sender->sent < sender->share; sender->sent++) {
        if (sender->nanos && sender->sent % SENDS_PER_LOOK_AT_CLOCK == 0 && now() - begun >= sender->nanos) {
            break;
        }
        struct record *record = &sender->records[next];
        next = next + 1 == sender->record_count ? 0 : next + 1;
        struct delivery *delivery = NULL;
        if (--until_sampled == 0) {
            until_sampled = random_gap(&random, SENDS_PER_SAMPLE);
            delivery = allocate(sizeof *delivery);
            delivery->next = sender->sampled;
            delivery->sent = now();
            sender->sampled = delivery;
        }
        if (--until_timed > 0) {
            produce(record->partition, record->key, record->value, sender->size, delivery);
        } else {
            until_timed = random_gap(&random, SENDS_PER_TIMED);
            int64_t start = now();
            produce(record->partition, record->key, record->value, sender->size, delivery);
            add(&sender->sends, now() - start);
        }
    }
    return NULL;
}

/* What is measured in a run, in nanoseconds. */
struct figures {
    int64_t records, elapsed, cpu;
    struct times sends, acks;
};

/* Sends so many records by all threads together, or for so long if that is not 0, and measures from when all of them start until
 * all records are acknowledged. */
static struct figures send_all(struct sender *senders, int64_t records, int64_t longest) {
    int64_t threads = number("threads");
    pthread_barrier_init(&barrier, NULL, (unsigned) threads + 1);
    for (int64_t t = 0; t < threads; t++) {
        senders[t].share = longest ? INT64_MAX : records / threads + (t < records % threads);
        senders[t].nanos = longest;
        start_thread(send_share, &senders[t], &senders[t].thread);
    }
    pthread_barrier_wait(&barrier);
    int64_t cpu = nanos(CLOCK_PROCESS_CPUTIME_ID), start = now();
    pthread_barrier_wait(&barrier);
    for (int64_t t = 0; t < threads; t++) {
        pthread_join(senders[t].thread, NULL);
    }
    flush();
    struct figures figures = {.elapsed = now() - start, .cpu = nanos(CLOCK_PROCESS_CPUTIME_ID) - cpu};
    pthread_barrier_destroy(&barrier);

    for (int64_t t = 0; t < threads; t++) {
        figures.records += senders[t].sent;
        for (size_t i = 0; i < senders[t].sends.count; i++) {
            add(&figures.sends, senders[t].sends.nanos[i]);
        }
        senders[t].sends.count = 0;
        while (senders[t].sampled) {
            struct delivery *delivery = senders[t].sampled;
            add(&figures.acks, delivery->taken);
            senders[t].sampled = delivery->next;
            free(delivery);
        }
    }
    return figures;
}

/* The times must be sorted. */
static double quantile(struct times *times, double share) {
    size_t at = (size_t) (share * (double) times->count);
    return (double) times->nanos[at < times->count ? at : times->count - 1];
}

static void print(struct figures *figures) {
    double records = (double) figures->records;
    struct times *sends = &figures->sends, *acks = &figures->acks;
    qsort(sends->nanos, sends->count, sizeof *sends->nanos, compare);
    qsort(acks->nanos, acks->count, sizeof *acks->nanos, compare);
    printf("{\"records_per_s\":%.3f,\"cpu_ns_per_record\":%.3f,\"send_p50_us\":%.3f,\"send_p99_us\":%.3f,"
           "\"send_p999_us\":%.3f,\"send_max_us\":%.3f,\"ack_p50_ms\":%.3f,\"ack_p99_ms\":%.3f}\n",
           records * 1e9 / (double) figures->elapsed, (double) figures->cpu / records,
           quantile(sends, 0.5) / 1e3, quantile(sends, 0.99) / 1e3, quantile(sends, 0.999) / 1e3, quantile(sends, 1) / 1e3,
           quantile(acks, 0.5) / 1e6, quantile(acks, 0.99) / 1e6);
}

static void free_times(struct figures *figures) {
    free(figures->sends.nanos);
    free(figures->acks.nanos);
}

/* Does what dev.millrace.race.PauseFile does. */
static void pause_at_file(void) {
    const char *file = text("pause_file");
    FILE *created = fopen(file, "w");
    if (!created || fclose(created)) {
        fail("%s cannot be created", file);
    }
    while (!access(file, F_OK)) {
        usleep(5000);
    }
}

int main(int count, char **values) {
    argument_count = count;
    arguments = values;
    pthread_t unused;
    start_thread(end_with_parent, NULL, &unused);
    open_producer();
    start_thread(poll_deliveries, NULL, &unused);
    struct sender *senders = prepare();
    int64_t warmup = number("warmup"), records = number("records"), least_nanos = number("warmup_ms") * 1000000;

    int64_t before = count_arrivals(), start = now(), warmed = 0;
    do {
        struct figures figures = send_all(senders, warmup, 0);
        free_times(&figures);
        warmed += figures.records;
    } while (now() - start < least_nanos);
    int64_t arrived = count_arrivals(), turns = number("turns");
    check_arrived(warmed, arrived - before);
    for (int64_t turn = 0; turn < (turns ? turns : 1); turn++) {
        if (turns) {
            pause_at_file();
        }
        struct figures figures = send_all(senders, records, number("seconds") * 1000000000);
        before = arrived;
        arrived = count_arrivals();
        check_arrived(figures.records, arrived - before);
        print(&figures);
        fflush(stdout);
        free_times(&figures);
    }
    if (turns) {
        pause_at_file();
    }
    _exit(0); /* Not by return, because threads of the library still run. */
}
