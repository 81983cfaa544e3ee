package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DemoCommandTest {
    private final StringWriter err = new StringWriter();
    private final StringWriter out = new StringWriter();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    demo --records 0                                              | --records 0: at least 1
                    demo --threads 0                                              | --threads 0: at least 1
                    demo --size 1                                                 | --size 1: from 20
                    demo --rounds 0                                               | --rounds 0: at least 1
                    demo --producers stock,fast                                   | one of stock, millrace, millrace-exactly-once, replay, mirrormaker1, mirrormaker1-tuned, mirrormaker2, not 'fast'
                    demo --producers stock,stock                                  | --producers: each can be given once
                    demo --mode auto,auto                                         | --mode: each can be given once
                    demo --mode fast                                              | one of consumer, auto, records, batches, not 'fast'
                    demo --mode auto --producers stock                            | only millrace runs in several modes
                    demo --batch-records 0                                        | --batch-records 0: at least 1
                    demo --batch-records 10001                                    | at most 10000 records of 100 bytes
                    demo --report curve.html                                      | only --curve writes one
                    demo --curve --report curve.pdf                               | --report curve.pdf: a name that ends in .html
                    demo --curve --report no/such/folder/curve.html               | there is no folder
                    """)
    void shouldExplainWrongUsageInOneLineAndExitWith2(String commandLine, String expected) {
        assertThat(execute(commandLine.split(" "))).isEqualTo(2);

        assertThat(err.toString()).hasLineCount(1).contains(expected);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldBeACommandOfTheMirror() {
        assertThat(execute("help")).isZero();
        assertThat(execute("demo", "--help")).isZero();
        assertThat(execute()).isEqualTo(2);

        assertThat(out.toString()).contains("Commands:", "  run ", "  demo ", "--idle-partitions");
        assertThat(err.toString()).contains("rewind, cutover, demo or help");
    }

    private int execute(String... args) {
        CommandLine command = Main.commandLine((stop, left) -> {});
        command.setErr(new PrintWriter(err, true));
        command.setOut(new PrintWriter(out, true));
        return command.execute(args);
    }
}
