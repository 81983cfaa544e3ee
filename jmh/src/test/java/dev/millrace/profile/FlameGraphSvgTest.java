package dev.millrace.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class FlameGraphSvgTest {
    @Test
    void shouldDrawAllProducersAtOneScale() throws Exception {
        Profile before = profile("kafka-4.4.0", "a/A.run 300", "a/A.run;org/apache/kafka/K.<init> 700");
        Profile after = profile("millrace", "a/A.run;dev/millrace/client/M.send 250");

        Document picture = parse(FlameGraphSvg.of(List.of(before, after)));

        // The widest frame fills the picture minus its margins; half a pixel separates neighbours.
        assertThat(width(picture, "A.run: 100 ns")).isEqualTo(1_180 - 0.5);
        assertThat(width(picture, "K.<init>: 70 ns")).isEqualTo(826 - 0.5);
        assertThat(width(picture, "M.send: 25 ns")).isEqualTo(295 - 0.5);
        assertThat(texts(picture))
                .contains(
                        "kafka-4.4.0: 100 ns of CPU per record",
                        "millrace: 25 ns of CPU per record",
                        "K.<init>",
                        "Millrace");
    }

    @Test
    void shouldDrawCalleesAboveTheirCaller() throws Exception {
        Document picture =
                parse(FlameGraphSvg.of(List.of(profile("millrace", "a/A.run;b/B.go 10", "a/A.run;b/C.go 10"))));

        assertThat(y(picture, "B.go: 1.0 ns"))
                .isEqualTo(y(picture, "A.run: 2.0 ns") - 16)
                .isEqualTo(y(picture, "C.go: 1.0 ns"));
    }

    @Test
    void shouldDrawAnEmptyGraphWhenNothingWasCounted() throws Exception {
        Document picture = parse(FlameGraphSvg.of(List.of(profile("millrace"))));

        assertThat(texts(picture)).containsExactly("millrace: 0.0 ns of CPU per record");
    }

    private static Profile profile(String producer, String... lines) {
        CollapsedStacks stacks = CollapsedStacks.parse(String.join("\n", lines));
        return new Profile(producer, ProfileMode.CPU, 10, lines.length, "perf_events", stacks);
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static double width(Document picture, String title) {
        return Double.parseDouble(rectangle(picture, title).getAttribute("width"));
    }

    private static int y(Document picture, String title) {
        return Integer.parseInt(rectangle(picture, title).getAttribute("y"));
    }

    private static Element rectangle(Document picture, String title) {
        NodeList titles = picture.getElementsByTagName("title");
        for (int i = 0; i < titles.getLength(); i++) {
            if (titles.item(i).getTextContent().equals(title)) {
                return (Element) titles.item(i).getNextSibling();
            }
        }
        throw new AssertionError("No frame " + title);
    }

    private static List<String> texts(Document picture) {
        NodeList texts = picture.getElementsByTagName("text");
        return IntStream.range(0, texts.getLength())
                .mapToObj(i -> texts.item(i).getTextContent())
                .toList();
    }
}
