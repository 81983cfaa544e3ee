package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.support.Statuses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.htmlunit.BrowserVersion;
import org.htmlunit.WebClient;
import org.htmlunit.html.DomElement;
import org.htmlunit.html.HtmlElement;
import org.htmlunit.html.HtmlPage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a person sees of the page, whose script is run. An error of the script fails the test. */
@Timeout(60)
class StatusPageTest {
    private static final String TOKEN = "0123456789abcdef";
    private static final String EVIL = "<img src=x onerror=alert(1)>&amp;\"";

    private final AtomicInteger asked = new AtomicInteger();
    private volatile MirrorStatus status;
    private final WebClient browser = new WebClient(BrowserVersion.CHROME);
    private final TopicControls controls = new TopicControls();
    private final StatusServer server = start(Optional.empty());
    private HtmlPage page;

    private StatusServer start(Optional<AccessToken> token) {
        return StatusServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new StatusServer.Shown(
                        this::next,
                        () -> List.of(new LogEvent(1_700_000_000_000L, "WARN", "Gap in " + EVIL)),
                        controls),
                new StatusServer.Access(token, Set.of()));
    }

    @BeforeEach
    void open() throws Exception {
        page = browser.getPage(server.url());
    }

    @AfterEach
    void close() {
        browser.close();
        server.close();
    }

    /** Of a mirror whose partitions have more records at each question. */
    private MirrorStatus next() {
        if (status != null) {
            return status;
        }
        int records = 1_000 * asked.incrementAndGet();
        return Statuses.running(
                controls.state(),
                List.of(
                        Statuses.partition("small", records, true, 5, null),
                        Statuses.partition(EVIL, 2, true, 70, StallCause.TARGET_SILENT),
                        Statuses.partition("gone", 7, false, -1, null)));
    }

    @Test
    void shouldShowThePartitionsOfTheProcessTheLargestLagFirst() throws Exception {
        awaitAndLook(() -> rows().size() == 2, () -> {
            assertThat(cell(0, 0)).isEqualTo(EVIL + "-2");
            assertThat(cell(0, 4)).isEqualTo("70");
            assertThat(cell(0, 8)).isEqualTo("target-silent");
            assertThat(cell(1, 0)).startsWith("small-");
            assertThat(text("state")).isEqualTo("running");
            assertThat(text("tiles")).contains("caught up in90 s", "read4000B", "written4500B");
            assertThat(text("route")).isEqualTo("old:9092 → new:9092");
            assertThat(text("members")).contains("mirror-0");
            assertThat(text("counts")).contains("gaps: 1");
        });
    }

    @Test
    void shouldTakeNamesForTextAndNotForMarkup() throws Exception {
        awaitAndLook(() -> rows().size() == 2, () -> {
            assertThat(page.getElementsByTagName("img")).isEmpty();
            assertThat(text("events")).isEqualTo("2023-11-14 22:13:20 WARN Gap in " + EVIL);
        });
    }

    @Test
    void shouldDrawLinesThatGrowWithTime() throws Exception {
        awaitAndLook(
                () -> points("rateChart") >= 3,
                () -> assertThat(points("lagChart")).isGreaterThanOrEqualTo(3));
    }

    @Test
    void shouldShowThePartitionsWhoseNamesContainWhatIsTyped() throws Exception {
        awaitAndLook(() -> rows().size() == 2, () -> {
            page.<HtmlElement>getHtmlElementById("filter").type("small");

            assertThat(rows()).hasSize(1);
            assertThat(cell(0, 0)).startsWith("small-");
        });
    }

    @Test
    void shouldChartThePartitionThatIsClicked() throws Exception {
        awaitAndLook(() -> rows().size() == 2, () -> {
            rows().get(0).click();

            assertThat(charted()).isEqualTo(EVIL + "-2");
            page.getElementById("all").click();
            assertThat(charted()).isEqualTo("all");
        });
    }

    @Test
    void shouldSayWhyTheMirrorIsNotReadyAndThatItDoesNotAnswer() throws Exception {
        status = Statuses.of(MirrorState.STARTING, "", "The source does not answer", List.<PartitionStatus>of());
        awaitAndLook(
                () -> text("obstacle").equals("The source does not answer"),
                () -> assertThat(text("state")).isEqualTo("starting, not ready"));

        server.close();

        awaitAndLook(
                () -> text("state").equals("no answer"),
                () -> assertThat(text("obstacle")).startsWith("The mirror does not answer"));
    }

    @Test
    void shouldShowWhatIsPausedAndNoButtonsWithoutAToken() throws Exception {
        controls.pause(Optional.of(Pattern.compile("small")));
        awaitAndLook(() -> rows().size() == 2 && cell(1, 8).equals("paused"), () -> {
            assertThat(text("controls")).isEqualTo("paused: small");
            assertThat(page.<HtmlElement>getHtmlElementById("pause").isDisplayed())
                    .isFalse();
            assertThat(page.getElementById("noChanges").isDisplayed()).isTrue();
        });
    }

    @Test
    void shouldPauseAndThrottleWithTheTokenThatIsTyped() throws Exception {
        try (StatusServer open = start(Optional.of(AccessToken.of(TOKEN)))) {
            page = browser.getPage(open.url());
            awaitAndLook(() -> rows().size() == 2, () -> {
                rows().get(1).click();
                page.<HtmlElement>getHtmlElementById("pause").click();
            });
            awaitAndLook(
                    () -> text("changed").startsWith("The mirror's token is needed")
                            || text("changed").startsWith("This is not the mirror's token"),
                    () -> {
                        page.<HtmlElement>getHtmlElementById("token").type(TOKEN);
                        page.<HtmlElement>getHtmlElementById("pause").click();
                    });
            awaitAndLook(() -> text("changed").startsWith("Paused topics small; "), () -> {
                page.<HtmlElement>getHtmlElementById("rate").type("10MB");
                page.<HtmlElement>getHtmlElementById("throttle").click();
            });
            awaitAndLook(() -> text("changed").startsWith("Limited topics small to 10 MB/s each; "), () -> {
                assertThat(controls.state().isPaused("small")).isTrue();
                assertThat(controls.state().throttleOf("small")).isEqualTo(10_000_000);
            });
        }
    }

    private String text(String id) {
        return page.getElementById(id).getTextContent();
    }

    private String charted() {
        return page.<DomElement>querySelector(".of").getTextContent();
    }

    private List<DomElement> rows() {
        return List.copyOf(page.getElementById("partitions").getElementsByTagName("tr"));
    }

    private String cell(int row, int column) {
        return rows().get(row).getElementsByTagName("td").get(column).getTextContent();
    }

    private int points(String chart) {
        DomElement line = page.getElementById(chart).querySelector("polyline");
        return line == null ? 0 : line.getAttribute("points").split(" ").length;
    }

    /** Waits until the page is so, and then looks at it. Scripts hold the page's lock, so what is seen is drawn whole. */
    private void awaitAndLook(BooleanSupplier condition, Look look) throws IOException {
        HtmlPage opened = page;
        while (true) {
            synchronized (opened) {
                if (condition.getAsBoolean()) {
                    look.run();
                    return;
                }
            }
            browser.waitForBackgroundJavaScript(50);
        }
    }

    private interface Look {
        void run() throws IOException;
    }
}
