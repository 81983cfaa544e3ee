package dev.millrace.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The stacks are from async-profiler. */
class StackSimplifierTest {
    @Test
    void shouldLeaveOutPackagesAndNumbersOfLambdas() {
        assertThat(simplify(
                        ProfileMode.CPU,
                        "java/lang/Thread.run",
                        "dev/millrace/race/Racer$$Lambda$3.0x00007fc8d4003800.run",
                        "dev/millrace/race/Sender.run",
                        "dev/millrace/client/MillraceProducer.send"))
                .isEqualTo("Thread.run JDK, Racer$λ.run LOAD, Sender.run LOAD, MillraceProducer.send MILLRACE");
    }

    @Test
    void shouldShowOverloadsThatCallEachOtherOnce() {
        assertThat(simplify(
                        ProfileMode.CPU,
                        "org/apache/kafka/clients/producer/KafkaProducer.send",
                        "org/apache/kafka/clients/producer/KafkaProducer.send",
                        "org/apache/kafka/clients/producer/KafkaProducer.doSend"))
                .isEqualTo("KafkaProducer.send KAFKA, KafkaProducer.doSend KAFKA");
    }

    @Test
    void shouldFoldWhatIsNotJava() {
        assertThat(simplify(ProfileMode.CPU, "sun/nio/ch/SocketDispatcher.write0", "__write", "do_syscall_64_[k]"))
                .isEqualTo("SocketDispatcher.write0 JDK, kernel SYSTEM");
        assertThat(simplify(ProfileMode.CPU, "java/lang/String.equals", "I2C/C2I adapters"))
                .isEqualTo("String.equals JDK, native SYSTEM");
        assertThat(simplify(
                        ProfileMode.WALL,
                        "a/A.run",
                        "_complete_monitor_locking_Java",
                        "ObjectMonitor::enter",
                        "futex_wait_[k]"))
                .isEqualTo("A.run JDK, monitor LOCK");
    }

    @Test
    void shouldNameThreadsOfTheJvm() {
        assertThat(simplify(ProfileMode.CPU, "clone3", "JavaThread::run", "CompileBroker::compiler_thread_loop"))
                .isEqualTo("JIT compiler SYSTEM");
        assertThat(simplify(ProfileMode.CPU, "clone3", "Thread::call_run", "GangWorker::loop", "PSPromotionManager"))
                .isEqualTo("garbage collector SYSTEM");
        assertThat(simplify(ProfileMode.CPU, "[unknown]", "/lib/libjvm.so")).isEqualTo("JVM SYSTEM");
    }

    @Test
    void shouldEndInTheTypeWhenLocksOrAllocationsWereProfiled() {
        assertThat(simplify(ProfileMode.LOCK, "a/A.run", "java.util.ArrayDeque_[i]"))
                .isEqualTo("A.run JDK, ArrayDeque LOCK");
        assertThat(simplify(ProfileMode.ALLOC, "a/A.run", "byte[]_[k]")).isEqualTo("A.run JDK, byte[] TYPE");
    }

    @Test
    void shouldMarkMetadataApartFromTheRestOfTheProducer() {
        assertThat(simplify(
                        ProfileMode.CPU,
                        "org/apache/kafka/clients/producer/KafkaProducer.waitOnMetadata",
                        "java/util/concurrent/locks/ReentrantLock.lock"))
                .isEqualTo("KafkaProducer.waitOnMetadata METADATA, ReentrantLock.lock LOCK");
    }

    @Test
    void shouldTakeThePrivateCopyOfKafkasNetworkLayerForKafka() {
        assertThat(simplify(
                        ProfileMode.CPU,
                        "dev/millrace/client/kafka/NetworkBrokerLink.poll",
                        "dev/millrace/kafka/clients/NetworkClient.poll"))
                .isEqualTo("NetworkBrokerLink.poll MILLRACE, NetworkClient.poll KAFKA");
    }

    private static String simplify(ProfileMode mode, String... frames) {
        return StackSimplifier.simplify(Arrays.asList(frames), mode).stream()
                .map(frame -> frame.name() + " " + frame.kind())
                .collect(Collectors.joining(", "));
    }
}
