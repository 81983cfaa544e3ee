package dev.millrace.client.support;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.read.ListAppender;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.Producer;
import org.slf4j.LoggerFactory;

/**
 * Looks for a secret in all that a program could show of its producers: in every log event of every logger and level
 * while it is open, and in the exceptions and producers that it is given.
 *
 * <p><b>Threads:</b> one, but for the threads that log.
 */
public final class SecretOracle implements AutoCloseable {
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final Level before = root.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Queue<String> shown = new ConcurrentLinkedQueue<>();

    public SecretOracle() {
        for (Iterator<Appender<ILoggingEvent>> all = root.iteratorForAppenders(); all.hasNext(); ) {
            others.add(all.next());
        }
        others.forEach(root::detachAppender);
        log.start();
        root.addAppender(log);
        root.setLevel(Level.TRACE);
    }

    /** Remembers the texts of an exception, its causes and what it suppressed. */
    public void onThrown(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        shown.add(text.toString());
    }

    /** Remembers what an open producer shows: itself, its metrics, all beans of Kafka, all names of threads. */
    public void onOpen(Producer<?, ?> producer) throws JMException {
        shown.add(producer.toString());
        producer.metrics().forEach((name, metric) -> shown.add(name + " " + name.description() + metric.metricValue()));
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName name : beans.queryNames(new ObjectName("kafka.*:*"), null)) {
            shown.add(name.toString());
            try {
                for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) {
                    shown.add(name + " " + attribute + " = " + beans.getAttribute(name, attribute.getName()));
                }
            } catch (InstanceNotFoundException e) {
                shown.add(e.toString()); // it gets another attribute, and is away meanwhile
            }
        }
        Thread.getAllStackTraces().keySet().forEach(thread -> shown.add(thread.getName()));
    }

    /** Stops to listen, and returns the messages of the log. */
    public List<String> messages() {
        close();
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    /** Stops to listen, and fails if the secret was anywhere, as it is or within a text in Base64. */
    public void assertNowhere(String secret) {
        close();
        assertThat(log.list).as("log").hasSizeGreaterThan(10);
        List<String> forms = forms(secret);
        List<String> all = new ArrayList<>(shown);
        log.list.forEach(event -> all.add(event.getThreadName() + " " + event.getLoggerName() + " "
                + event.getFormattedMessage() + event.getMDCPropertyMap()
                + ThrowableProxyUtil.asString(event.getThrowableProxy())));
        assertThat(all).noneMatch(text -> forms.stream().anyMatch(text::contains));
    }

    /** The secret itself, and what is certain of its Base64, whatever number of bytes stands before and after it. */
    static List<String> forms(String secret) {
        List<String> forms = new ArrayList<>(List.of(secret));
        for (int before = 0; before < 3; before++) {
            byte[] bytes = ("-".repeat(before) + secret).getBytes(StandardCharsets.UTF_8);
            int firstWhole = (before * Byte.SIZE + 5) / 6;
            int wholes = bytes.length * Byte.SIZE / 6;
            forms.add(Base64.getEncoder().encodeToString(bytes).substring(firstWhole, wholes));
        }
        return forms;
    }

    @Override
    public void close() {
        root.detachAppender(log);
        root.setLevel(before);
        others.forEach(root::addAppender);
        others.clear();
    }
}
