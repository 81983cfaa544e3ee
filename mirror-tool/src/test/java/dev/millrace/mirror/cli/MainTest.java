package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class MainTest {
    /** Nothing listens there. */
    private static final String NOBODY = "127.0.0.1:1";

    @TempDir
    private Path folder;

    private final StringWriter err = new StringWriter();
    private final StringWriter out = new StringWriter();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                                                            | Give a command: run, plan, verify, status, pause, resume, throttle, failover, take-over, rewind, cutover or help
                    fly                                                           | fly
                    run --source a:1 --target b:1                                 | --topics
                    run --source a:1 --target b:1 --topics x --frobnicate         | --frobnicate
                    run --source a:1 --target b:1 --topics [                      | --topics '['
                    run --source a:1 --target b:1 --topics [,b                    | --topics '[,b': Unclosed character class at character 3
                    run --source a:1 --target b:1 --topics a,*                    | --topics 'a,*': Dangling meta character '*' at character 3
                    run --source a:1 --target b:1 --topics \\Qa                   | --topics '\\Qa': a quotation
                    run --source a:1 --target b:1 --topics=                       | --topics '': it is empty
                    run --source a:1 --target b:1 --topics x --exclude-topics [   | --exclude-topics '[': Unclosed
                    verify --source a:1 --target b:1 --topics x --sample 0        | --sample 0: at least 1
                    verify --source a:1 --target b:1 --topics x --status -1       | --status -1: a number of seconds
                    status                                                        | [HOST:]PORT
                    status 1:x                                                    | expected [HOST:]PORT such as 9464 or 0.0.0.0:9464, not '1:x'
                    run --source a:1 --target b:1 --topics x --http 65536         | expected [HOST:]PORT such as 9464 or 0.0.0.0:9464, not '65536'
                    run --source a:1 --target b:1 --topics x --group=             | --group '': the name of a consumer group
                    run --source a:1 --target b:1 --topics x --mm2-checkpoints a  | --mm2-checkpoints a: --groups is needed
                    run --source a:1 --target b:1 --topics x --groups g --mm2-checkpoints a/b | --mm2-checkpoints 'a/b': an alias
                    run --source a:1 --target b:1 --topics x --mm2-offset-syncs b | --mm2-offset-syncs b: --groups is needed
                    run --source a:1 --target b:1 --topics x --groups g --mm2-offset-syncs b/c | --mm2-offset-syncs 'b/c': an alias
                    run --source a:1 --target b:1 --topics x --mm2-offset-syncs-location b | expected one of source, target
                    run --source a:1 --target b:1 --topics x --groups-interval 0  | --groups-interval 0: at least 1s
                    run --source a:1 --target b:1 --topics x --groups g --groups-interval 0 | --groups-interval 0: at least 1s
                    run --source a:1 --target b:1 --topics x --http-token-file no | --http-token-file: --http is needed
                    run --source a:1 --target b:1 --topics x --http-host h        | --http-host: --http is needed
                    run --source a:1 --target b:1 --topics x --sync acl           | expected one of settings, acls, quotas, not 'acl'
                    run --source a:1 --target b:1 --topics x --sync-interval 0    | --sync-interval 0: at least 1s
                    run --source a:1 --target b:1 --topics x --exclude-settings a=b | --exclude-settings 'a=b': expected are names
                    run --source a:1 --target b:1 --topics x --status -1          | --status -1: a number of seconds
                    run --source a:1 --target b:1 --topics x --mode consumer --resume exact | --mode consumer --resume exact
                    run --source a:99999 --target b:1 --topics x                  | --source a:99999: there is no port 99999
                    run --source a:1 --target b:1,c:0 --topics x                  | --target b:1,c:0: there is no port 0
                    run --source a:1 --target b:12345678901 --topics x            | there is no port 12345678901
                    run --source a:1 --target b:1 --topics x --threads 0          | --threads 0: at least 1
                    run --source a:1 --target b:1 --topics x --threads -3         | --threads -3: at least 1
                    run --source a:1 --target b:1 --topics x --threads many       | many
                    run --source a:1 --target b:1 --topics x --producer fast      | one of millrace, stock, not 'fast'
                    run --source a:1 --target b:1 --topics x --mode fast          | one of consumer, auto, records, batches, not 'fast'
                    run --source a:1 --target b:1 --topics x --mode auto --producer stock    | --mode auto --producer stock
                    run --source a:1 --target b:1 --topics x --mode records --producer stock | --mode records --producer stock
                    run --source a:1 --target b:1 --topics x --mode batches --producer stock | --mode batches --producer stock
                    run --source a:1 --target b:1 --topics x --on-refused no      | one of stop, stop-partition, dead-letter, skip, not 'no'
                    run --source a:1 --target b:1 --topics x --on-refused [=skip  | before '=skip', not '[': Unclosed character class
                    run --source a:1 --target b:1 --topics x --on-refused skip --on-refused stop   | --on-refused skip and stop: only one
                    run --source a:1 --target b:1 --topics x --on-refused skip --resume exactly-once | --on-refused with --resume exactly-once: a refused record
                    run --source a:1 --target b:1 --topics x --on-refused skip --producer stock    | --on-refused with --producer stock: only millrace
                    run --source a:1 --target b:1 --topics x --consumer.config no | --consumer.config no: there is no such file
                    run --source a:1 --target b:1 --topics x --producer.config .  | --producer.config .: cannot be read
                    run --target b:1 --topics x                                   | --source HOST:PORT
                    run --source a:1 --topics x                                   | --target HOST:PORT
                    run --source a --target b:1 --topics x                        | --source a: HOST:PORT
                    take-over --source a:1 --target b:1 --topics x                | --from-mm2
                    take-over --source a:1 --target b:1 --topics x --from-mm2=    | --from-mm2 '': the alias
                    rewind --source a:1 --target b:1 --topics x                   | --to
                    rewind --source a:1 --target b:1 --topics x --to=soon         | expected an offset, earliest, latest, a time
                    """)
    void shouldExplainWrongUsageInOneLineAndExitWith2(String commandLine, String expected) {
        int exitCode = execute(commandLine.isEmpty() ? new String[0] : commandLine.split(" "));

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).contains(expected);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    consumer | enable.auto.commit=true           | enable.auto.commit=true
                    consumer | value.deserializer=com.acme.Mine  | value.deserializer
                    consumer | max.poll.records=all              | max.poll.records
                    producer | key.serializer=com.acme.Mine      | key.serializer
                    producer | transactional.id=me               | transactional.id
                    producer | delivery.timeout.ms=soon          | delivery.timeout.ms
                    consumer | group.id=                         | group.id=: the name of a consumer group
                    consumer | bootstrap.servers=a:70000         | there is no port 70000
                    consumer | ssl.truststore.location=no/store%security.protocol=SSL            | no/store
                    consumer | default.api.timeout.ms=5          | default.api.timeout.ms
                    producer | linger.ms=100000%delivery.timeout.ms=99999                        | delivery.timeout.ms
                    producer | security.protocol=SASL_SSL        | JAAS configuration
                    producer | millrace.io.threads=0             | millrace.io.threads
                    producer | interceptor.classes=com.acme.Mine | com.acme.Mine
                    """)
    void shouldNameTheFileThatContradictsTheMirror(String client, String line, String expected) throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), line.replace('%', '\n'));
        String other = client.equals("consumer") ? "--target=" : "--source=";
        String own = client.equals("consumer") ? "--source=" : "--target=";
        List<String> args =
                new ArrayList<>(List.of("run", "--topics=x", other + NOBODY, "--" + client + ".config=" + file));
        if (!line.startsWith("bootstrap.servers")) {
            args.add(own + NOBODY);
        }

        int exitCode = execute(args.toArray(String[]::new));

        assertThat(exitCode).as(err.toString()).isEqualTo(2);
        assertThat(err.toString())
                .hasLineCount(1)
                .contains(expected, "--" + client + ".config ")
                .doesNotContain("Failed to construct");
    }

    @ParameterizedTest
    @CsvSource({"auto,consumer", "records,producer", "batches,consumer", "batches,producer"})
    void shouldRefuseInterceptorsInAModeThatMakesNoRecords(String mode, String client) throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), "interceptor.classes=com.acme.Mine");

        int exitCode = execute(
                "run",
                "--topics=x",
                "--source=a:1",
                "--target=b:1",
                "--mode=" + mode,
                "--" + client + ".config=" + file);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString())
                .hasLineCount(1)
                .contains("--" + client + ".config " + file, "com.acme.Mine would not be called with --mode " + mode);
    }

    @Test
    void shouldRefuseToWriteWithoutAcknowledgements() throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), "acks=0 \nenable.idempotence=false");

        int exitCode = execute("run", "--topics=x", "--source=a:1", "--target=b:1", "--producer.config=" + file);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).contains("acks=0 would break the mirror");
    }

    @Test
    void shouldNameAnAddressWhereNobodyAnswersAndExitWith1() {
        int exitCode =
                execute("run", "--source=127.0.0.1:1", "--target=127.0.0.1:2", "--topics=x", "--wait-at-start=0");

        assertThat(exitCode).isEqualTo(1);
        assertThat(err.toString()).hasLineCount(1).contains("source cluster at 127.0.0.1:1");
    }

    @Test
    void shouldEndAPlanWith1WhenAClusterDoesNotAnswer() {
        int exitCode = execute("plan", "--source=127.0.0.1:1", "--target=127.0.0.1:2", "--topics=x");

        assertThat(exitCode).isEqualTo(1);
        assertThat(err.toString()).hasLineCount(1).contains("mirror plan: The source cluster at 127.0.0.1:1");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldNameAHostThatDoesNotExistAndExitWith2() {
        int exitCode = execute("run", "--source=" + NOBODY, "--target=no.such.host.invalid:1", "--topics=x");

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).contains("--target no.such.host.invalid:1: there is no such host");
    }

    @Test
    void shouldTakeAddressesFromTheFiles() throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), "bootstrap.servers=here");

        int exitCode = execute("run", "--topics=x", "--source=a:1", "--producer.config=" + file);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString())
                .hasLineCount(1)
                .contains("--producer.config " + file + ": bootstrap.servers=here: HOST:PORT");
    }

    @Test
    void shouldDescribeItsOptions() {
        assertThat(execute("run", "--help")).isZero();
        assertThat(out.toString()).contains("--topics", "--consumer.config", "Exit codes:");
        assertThat(out.toString()).contains("--producer=millrace|stock").doesNotContain("MILLRACE");
        assertThat(execute("help")).isZero();
        assertThat(execute("help", "run")).isZero();
        assertThat(out.toString()).contains("Commands:", "  run ", "  take-over ");
        assertThat(execute("--version")).isZero();
        assertThat(out.toString()).contains("mirror ");
    }

    private int execute(String... args) {
        CommandLine command = Main.commandLine((stop, left) -> {});
        command.setErr(new PrintWriter(err, true));
        command.setOut(new PrintWriter(out, true));
        return command.execute(args);
    }
}
