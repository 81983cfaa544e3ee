package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Fault;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** What happens between the producer and one broker or all, while other faults happen to brokers and topics. */
final class NetworkFaults extends Faults {
    private final KafkaCluster brokers;
    private final List<ApiKeys> requests;

    private NetworkFaults(
            KafkaCluster brokers, List<ApiKeys> requests, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.brokers = brokers;
        this.requests = requests;
    }

    /** Single produce requests break as well. */
    static NetworkFaults ofRecords(KafkaCluster brokers, Random random, FaultLog log, CountDownLatch end) {
        return new NetworkFaults(brokers, List.of(ApiKeys.PRODUCE), random, log, end);
    }

    /** As {@link #ofRecords}, and the requests that begin and end transactions. */
    static NetworkFaults ofTransactions(KafkaCluster brokers, Random random, FaultLog log, CountDownLatch end) {
        return new NetworkFaults(
                brokers, List.of(ApiKeys.PRODUCE, ApiKeys.INIT_PRODUCER_ID, ApiKeys.END_TXN), random, log, end);
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(
                () -> stopFlow("nothing passes", Flow.NOTHING),
                () -> stopFlow("no answers pass", Flow.REQUESTS_ONLY),
                this::slowDown,
                this::refuse,
                () -> atSome("connections are reset", FaultProxy::resetAll),
                () -> atSome("connections are half-open", FaultProxy::makeAllHalfOpen),
                () -> breakRequests(Fault.RESET_BEFORE),
                () -> breakRequests(Fault.RESET_WITHIN),
                () -> breakRequests(Fault.RESET_AFTER),
                () -> breakRequests(Fault.DROP_RESPONSE));
    }

    @Override
    protected Duration pause() {
        return between(200, 2_000);
    }

    private void stopFlow(String what, Flow flow) {
        List<FaultProxy> some = some(what);
        some.forEach(proxy -> proxy.setFlow(flow));
        hold(between(200, 4_000));
        some.forEach(proxy -> proxy.setFlow(Flow.BOTH));
        log.tell("network: all passes");
    }

    private void slowDown() {
        List<FaultProxy> some = some("20 KB/s pass");
        some.forEach(proxy -> proxy.limitBytesPerSecond(20_000));
        hold(between(500, 4_000));
        some.forEach(proxy -> proxy.limitBytesPerSecond(Long.MAX_VALUE));
        log.tell("network: all passes");
    }

    private void refuse() {
        List<FaultProxy> some = some("connections are reset, and new ones refused");
        some.forEach(FaultProxy::refuse);
        some.forEach(FaultProxy::resetAll);
        hold(between(200, 3_000));
        some.forEach(FaultProxy::accept);
        log.tell("network: connections are accepted");
    }

    private void atSome(String what, Consumer<FaultProxy> action) {
        some(what).forEach(action);
    }

    /** Happens to requests as they come; those that have not come when the faults end break no more. */
    private void breakRequests(Fault fault) {
        for (FaultProxy proxy : some("the next 3 " + requests + " requests break: " + fault)) {
            requests.forEach(request -> IntStream.range(0, 3).forEach(i -> proxy.failNext(request, fault)));
        }
    }

    /** One broker's proxy, or all of them, which it tells. */
    private List<FaultProxy> some(String what) {
        int only = random.nextInt(4);
        log.fault("network to " + (only == 0 ? "all brokers" : "broker " + only), what);
        return IntStream.rangeClosed(1, brokers.brokers())
                .filter(broker -> only == 0 || broker == only)
                .mapToObj(brokers::proxy)
                .toList();
    }
}
