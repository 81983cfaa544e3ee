package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Draws the curves as an SVG picture: a line for each contender, and the point of KAFKA-3428. */
final class CurveChart {
    static final int WIDTH = 900;
    static final int HEIGHT = 500;

    /** KAFKA-3428: a MirrorMaker with this many consumer threads and one shared producer got no faster than this. */
    static final int JIRA_THREADS = 32;

    static final int JIRA_RECORDS_PER_SECOND = 358_000;

    private static final String STYLE = """
            .card { fill: #ffffff; }
            text { font: 13px system-ui, sans-serif; fill: #1f2328; }
            .title { font-size: 17px; font-weight: 600; }
            .quiet { fill: #59636e; }
            .grid { stroke: #d1d9e0; stroke-width: 1; }
            .middle { text-anchor: middle; }
            .end { text-anchor: end; }
            text.value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; text-anchor: middle; }
            polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
            .leader { stroke-dasharray: 2 3; }
            .millrace-consumer { stroke: #0969da; fill: #0969da; }
            .millrace-auto { stroke: #0550ae; fill: #0550ae; }
            .millrace-records { stroke: #1b7c83; fill: #1b7c83; }
            .millrace-batches { stroke: #0a3069; fill: #0a3069; }
            .millrace-exactly-once { stroke: #4d2d00; fill: #4d2d00; }
            .replay { stroke: #656d76; fill: #656d76; }
            .stock { stroke: #bc4c00; fill: #bc4c00; }
            .mirrormaker1 { stroke: #8250df; fill: #8250df; }
            .mirrormaker1-tuned { stroke: #1a7f37; fill: #1a7f37; }
            .mirrormaker2 { stroke: #bf3989; fill: #bf3989; }
            .jira { stroke: #59636e; fill: #59636e; }
            @media (prefers-color-scheme: dark) {
              .card { fill: #0d1117; }
              text { fill: #e6edf3; }
              .quiet { fill: #9198a1; }
              .grid { stroke: #30363d; }
              text.value { stroke: #0d1117; }
              .millrace-consumer { stroke: #58a6ff; fill: #58a6ff; }
              .millrace-auto { stroke: #79c0ff; fill: #79c0ff; }
              .millrace-records { stroke: #39c5cf; fill: #39c5cf; }
              .millrace-batches { stroke: #a5d6ff; fill: #a5d6ff; }
              .millrace-exactly-once { stroke: #e3b341; fill: #e3b341; }
              .replay { stroke: #b1bac4; fill: #b1bac4; }
              .stock { stroke: #f0883e; fill: #f0883e; }
              .mirrormaker1 { stroke: #bc8cff; fill: #bc8cff; }
              .mirrormaker1-tuned { stroke: #3fb950; fill: #3fb950; }
              .mirrormaker2 { stroke: #f778ba; fill: #f778ba; }
              .jira { stroke: #9198a1; fill: #9198a1; }
            }
            """;

    private final DemoPlan plan;
    private final List<DemoRow> rows;
    private final CurveScale scale;
    private final StringBuilder svg = new StringBuilder();

    private CurveChart(DemoPlan plan, List<DemoRow> rows) {
        this.plan = plan;
        this.rows = rows;
        scale = scale(plan, rows);
    }

    /** The scale of a chart with these rows and the point of the JIRA. */
    static CurveScale scale(DemoPlan plan, List<DemoRow> rows) {
        return CurveScale.of(
                Stream.concat(plan.threads().stream(), Stream.of(JIRA_THREADS))
                        .max(Integer::compare)
                        .orElseThrow(),
                rows.stream()
                        .mapToDouble(row -> row.figures().recordsPerSecond())
                        .reduce(JIRA_RECORDS_PER_SECOND, Math::max));
    }

    /**
     * Draws the picture, which refers to nothing outside.
     *
     * @param rows of each contender and number of threads of the plan
     */
    static String svg(DemoPlan plan, List<DemoRow> rows) {
        return new CurveChart(plan, rows).draw();
    }

    private String draw() {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\""
                        + " aria-labelledby=\"curve-title curve-description\">",
                WIDTH, HEIGHT);
        add("<title id=\"curve-title\">Records mirrored per second, by number of consumer threads</title>");
        add("<desc id=\"curve-description\">%s</desc>", description());
        add("<style>%n%s</style>", STYLE);
        add("<rect class=\"card\" width=\"%d\" height=\"%d\" rx=\"8\"/>", WIDTH, HEIGHT);
        drawText(CurveScale.LEFT, 30, "title", "Records mirrored per second, by consumer threads sharing one producer");
        drawText(
                CurveScale.LEFT,
                50,
                "quiet",
                plan.load().describe() + (plan.rounds() > 1 ? "; medians of " + plan.rounds() : ""));
        drawLegend();
        drawAxes();
        drawJira();
        plan.contenders().forEach(this::drawCurve);
        plan.threads().forEach(this::drawValues);
        return svg.append("</svg>\n").toString();
    }

    /** The figures as text, for people who cannot see the picture. */
    private String description() {
        List<String> sentences = new ArrayList<>();
        for (Contender contender : plan.contenders()) {
            sentences.add(contender.title() + ": "
                    + String.join(
                            ", ",
                            of(contender).stream()
                                    .map(row -> String.format(
                                            Locale.ROOT,
                                            "%,.0f with %d",
                                            row.figures().recordsPerSecond(),
                                            row.threads()))
                                    .toList())
                    + ".");
        }
        sentences.add(String.format(
                Locale.ROOT,
                "KAFKA-3428, on other hardware in 2016: %,d with %d.",
                JIRA_RECORDS_PER_SECOND,
                JIRA_THREADS));
        return String.join(" ", sentences);
    }

    /** Draws the names of the contenders, in two lines if they need them. */
    private void drawLegend() {
        double x = CurveScale.LEFT;
        double y = 71;
        for (Contender contender : plan.contenders()) {
            double width = 50 + 7.5 * contender.title().length();
            if (x + width > WIDTH) {
                x = CurveScale.LEFT;
                y += 20;
            }
            add("<g class=\"%s\">", contender.label());
            add("<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" stroke-width=\"2.5\"/>", x, y, x + 28, y);
            drawMarker(contender, x + 14, y);
            add("</g>");
            drawText(x + 36, y + 4, "", contender.title());
            x += width;
        }
    }

    private void drawAxes() {
        for (double speed : scale.lines()) {
            double y = scale.y(speed);
            add(
                    "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>",
                    CurveScale.LEFT, y, CurveScale.RIGHT, y);
            drawText(CurveScale.LEFT - 10, y + 4, "quiet end", String.format(Locale.ROOT, "%,.0f", speed));
        }
        Stream.concat(plan.threads().stream(), Stream.of(JIRA_THREADS))
                .distinct()
                .forEach(threads ->
                        drawText(scale.x(threads), CurveScale.BOTTOM + 20, "quiet middle", Integer.toString(threads)));
        drawText(
                (CurveScale.LEFT + CurveScale.RIGHT) / 2.0,
                CurveScale.BOTTOM + 42,
                "quiet middle",
                "consumer threads (each step doubles them)");
        drawText(CurveScale.LEFT - 10, CurveScale.TOP - 14, "quiet end", "records/s");
    }

    /** Draws the point of the JIRA, with its text in the right margin, where there is no curve. */
    private void drawJira() {
        double x = scale.x(JIRA_THREADS);
        double y = scale.y(JIRA_RECORDS_PER_SECOND);
        int margin = CurveScale.RIGHT + 34;
        add("<g class=\"jira\">");
        add("<line class=\"leader\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", x, y, margin - 4, y);
        add("<path d=\"M%.1f,%.1f l7,7 l-7,7 l-7,-7 z\"/>", x, y - 7);
        add("</g>");
        drawText(margin, y + 4, "", String.format(Locale.ROOT, "%,d/s: KAFKA-3428", JIRA_RECORDS_PER_SECOND));
        drawText(margin, y + 21, "quiet", "MirrorMaker, " + JIRA_THREADS + " threads");
        drawText(margin, y + 38, "quiet", "on 2016 hardware");
    }

    private void drawCurve(Contender contender) {
        add("<g class=\"%s\">", contender.label());
        List<String> points = new ArrayList<>();
        for (DemoRow row : of(contender)) {
            points.add(String.format(Locale.ROOT, "%.1f,%.1f", scale.x(row.threads()), y(row)));
        }
        add("<polyline points=\"%s\"/>", String.join(" ", points));
        of(contender).forEach(row -> drawMarker(contender, scale.x(row.threads()), y(row)));
        add("</g>");
    }

    /** Draws a point. Each contender has its own shape, for people who cannot tell the colours apart. */
    private void drawMarker(Contender contender, double x, double y) {
        String shape = switch (contender) {
            case MILLRACE_CONSUMER -> "M%.1f,%.1f m-5,0 a5,5 0 1 0 10,0 a5,5 0 1 0 -10,0 z";
            case MILLRACE_AUTO -> "M%.1f,%.1f m-6,0 l6,-6 l6,6 l-6,6 z";
            case MILLRACE_RECORDS -> "M%.1f,%.1f m-2,-6 h4 v4 h4 v4 h-4 v4 h-4 v-4 h-4 v-4 h4 z";
            case MILLRACE_BATCHES -> "M%.1f,%.1f m-6,-3 h12 v6 h-12 z";
            case MILLRACE_EXACTLY_ONCE -> "M%.1f,%.1f m-3,-6 h6 v12 h-6 z";
            case REPLAY -> "M%.1f,%.1f m-6,-1 h12 v2 h-12 z";
            case STOCK -> "M%.1f,%.1f m-5,-5 h10 v10 h-10 z";
            case MIRRORMAKER1 -> "M%.1f,%.1f m0,-6 l6,11 h-12 z";
            case MIRRORMAKER1_TUNED -> "M%.1f,%.1f m0,6 l6,-11 h-12 z";
            case MIRRORMAKER2 -> "M%.1f,%.1f m-6,-5 h12 l-12,10 h12 z";
        };
        add("<path d=\"" + shape + "\"/>", x, y);
    }

    /** Writes the figures beside the points of one number of threads. */
    private void drawValues(int threads) {
        List<DemoRow> column = rows.stream()
                .filter(row -> row.threads() == threads)
                .sorted((one, other) -> Double.compare(y(one), y(other)))
                .toList();
        List<Double> points = new ArrayList<>(column.stream().map(this::y).toList());
        if (threads == JIRA_THREADS) {
            points.add(scale.y(JIRA_RECORDS_PER_SECOND));
        }
        List<Double> middles = CurveLabels.place(points);
        for (int i = 0; i < column.size(); i++) {
            DemoRow row = column.get(i);
            drawText(
                    scale.x(threads),
                    middles.get(i) + 4.5,
                    "value " + row.contender().label(),
                    brief(row.figures().recordsPerSecond()));
        }
    }

    /** A speed in few characters: {@code 725 k}, {@code 1.23 M}. */
    static String brief(double speed) {
        return speed < 999_500
                ? String.format(Locale.ROOT, "%.0f k", speed / 1e3)
                : String.format(Locale.ROOT, "%.2f M", speed / 1e6);
    }

    private List<DemoRow> of(Contender contender) {
        return rows.stream().filter(row -> row.contender() == contender).toList();
    }

    private double y(DemoRow row) {
        return scale.y(row.figures().recordsPerSecond());
    }

    private void drawText(double x, double y, String classes, String words) {
        add("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>", x, y, classes, words);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
