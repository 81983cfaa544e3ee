package dev.millrace.mirror.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class CurveChartTest {
    private static final CurveScale SCALE = CurveChart.scale(CurveFixture.PLAN, CurveFixture.rows());

    @Test
    void shouldPutEachPointWhereItsScaleSays() throws Exception {
        Document svg = parse(CurveChart.svg(CurveFixture.PLAN, CurveFixture.rows()));

        for (Contender contender : CurveFixture.PLAN.contenders()) {
            List<String> points = points(svg, contender);
            List<Integer> threads = CurveFixture.PLAN.threads(contender);
            assertThat(points).hasSameSizeAs(threads);
            for (int i = 0; i < points.size(); i++) {
                String[] xy = points.get(i).split(",", -1);
                // Equal steps for each doubling of threads; speeds in proportion to the height.
                assertThat(Double.parseDouble(xy[0]))
                        .isCloseTo(
                                CurveScale.FIRST
                                        + (CurveScale.RIGHT - CurveScale.FIRST)
                                                * CurveFixture.PLAN.threads().indexOf(threads.get(i))
                                                / 5.0,
                                within(0.1));
                double height = CurveScale.BOTTOM - Double.parseDouble(xy[1]);
                assertThat(height * SCALE.top() / (CurveScale.BOTTOM - CurveScale.TOP))
                        .isCloseTo(CurveFixture.SPEEDS.get(contender).get(i), within(1_000.0));
            }
        }
    }

    @Test
    void shouldShowEveryFigureAndTheJirasPoint() throws Exception {
        Document svg = parse(CurveChart.svg(CurveFixture.PLAN, CurveFixture.rows()));

        List<String> texts = new ArrayList<>();
        NodeList elements = svg.getElementsByTagName("text");
        for (int i = 0; i < elements.getLength(); i++) {
            texts.add(elements.item(i).getTextContent());
        }
        assertThat(texts)
                .contains("521 k", "726 k", "494 k", "1.23 M", "708 k")
                .contains("Millrace, consumer", "stock producer", "MirrorMaker 1", "MirrorMaker 2")
                .contains("1", "2", "4", "8", "16", "32")
                .contains("358,000/s: KAFKA-3428", "on 2016 hardware");
        assertThat(svg.getElementsByTagName("desc").item(0).getTextContent())
                .contains("Millrace, consumer: 725,837 with 1, 718,000 with 2")
                .contains("MirrorMaker 2: 250,000 with 4.")
                .contains("KAFKA-3428, on other hardware in 2016: 358,000 with 32.");
    }

    @Test
    void shouldKeepEveryNameOfTheLegendInsideThePicture() throws Exception {
        DemoPlan plan = new DemoPlan(new DemoLoad(10, 100), List.of(1, 2), List.of(Contender.values()), 1);

        Document svg = parse(CurveChart.svg(plan, List.of()));

        List<String> titles = plan.contenders().stream().map(Contender::title).toList();
        NodeList elements = svg.getElementsByTagName("text");
        int found = 0;
        for (int i = 0; i < elements.getLength(); i++) {
            Element text = (Element) elements.item(i);
            if (titles.contains(text.getTextContent())) {
                found++;
                double end = Double.parseDouble(text.getAttribute("x"))
                        + 7 * text.getTextContent().length();
                assertThat(end).isLessThan(CurveChart.WIDTH);
                assertThat(Double.parseDouble(text.getAttribute("y"))).isLessThan(CurveScale.TOP);
            }
        }
        assertThat(found).isEqualTo(titles.size());
    }

    @Test
    void shouldGiveTheJirasPointItsPlaceWhenFewerThreadsRan() throws Exception {
        DemoPlan plan = new DemoPlan(new DemoLoad(10, 100), List.of(1, 2), List.of(Contender.STOCK), 1);
        List<DemoRow> rows = CurveFixture.rows().subList(0, 2);

        Document svg = parse(CurveChart.svg(plan, rows));

        assertThat(CurveChart.scale(plan, rows).maxThreads()).isEqualTo(32);
        assertThat(points(svg, Contender.STOCK)).hasSize(2);
    }

    @Test
    void shouldFindARoundScaleWithRoomAboveTheHighest() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            double highest = Math.pow(10, 8 * random.nextDouble());

            CurveScale scale = CurveScale.of(32, highest);

            assertThat(scale.y(highest))
                    .as("seed %d", seed)
                    .isBetween(CurveScale.TOP + 10.0, CurveScale.BOTTOM - 140.0);
            assertThat(scale.lines()).as("seed %d", seed).hasSizeBetween(3, 7).contains(0.0);
        }
    }

    @Test
    void shouldKeepLabelsOffEachOtherAndOffPoints() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            double from = CurveScale.TOP + 20 + 280 * random.nextDouble();
            List<Double> points = DoubleStream.generate(
                            () -> Math.min(CurveScale.BOTTOM, from + 60 * random.nextDouble()))
                    .limit(4)
                    .sorted()
                    .boxed()
                    .toList();

            List<Double> labels = CurveLabels.place(points);

            for (int one = 0; one < labels.size(); one++) {
                for (int other = 0; other < one; other++) {
                    assertThat(Math.abs(labels.get(one) - labels.get(other)))
                            .as("labels of %s, seed %d", points, seed)
                            .isGreaterThan(12);
                }
                for (double point : points) {
                    assertThat(Math.abs(labels.get(one) - point))
                            .as("label %d of %s, seed %d", one, points, seed)
                            .isGreaterThan(12);
                }
            }
        }
    }

    private static List<String> points(Document svg, Contender contender) {
        NodeList lines = svg.getElementsByTagName("polyline");
        for (int i = 0; i < lines.getLength(); i++) {
            Element line = (Element) lines.item(i);
            if (((Element) line.getParentNode()).getAttribute("class").equals(contender.label())) {
                return List.of(line.getAttribute("points").split(" "));
            }
        }
        throw new AssertionError("No curve of " + contender);
    }

    /** Fails when it is not well-formed. */
    static Document parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
    }
}
