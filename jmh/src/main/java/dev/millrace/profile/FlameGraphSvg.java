package dev.millrace.profile;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Flame graphs of several producers, one below the other at the same scale, as one SVG without scripts. The width of a
 * frame is its cost per record. Callees are drawn above their callers.
 */
final class FlameGraphSvg {
    private static final int WIDTH = 1_200;
    private static final int MARGIN = 10;
    private static final int ROW_HEIGHT = 16;
    private static final int TITLE_HEIGHT = 34;
    private static final int LEGEND_HEIGHT = 30;
    private static final double CHARACTER_WIDTH = 6.7;

    /** Frames narrower than this, in pixels, are left out. */
    private static final double MIN_FRAME_WIDTH = 2;

    private final List<Profile> profiles;
    private final double pixelsPerUnit;
    private final StringBuilder svg = new StringBuilder();
    private final Set<Frame.Kind> drawn = EnumSet.noneOf(Frame.Kind.class);

    private FlameGraphSvg(List<Profile> profiles) {
        this.profiles = profiles;
        double widest = profiles.stream()
                .mapToDouble(profile -> profile.perRecord(profile.stacks().total()))
                .max()
                .orElse(0);
        pixelsPerUnit = widest == 0 ? 0 : (WIDTH - 2 * MARGIN) / widest;
    }

    /**
     * Draws the flame graphs.
     *
     * @param profiles from top to bottom, all of one mode
     */
    static String of(List<Profile> profiles) {
        return new FlameGraphSvg(profiles).draw();
    }

    private String draw() {
        int top = 0;
        for (Profile profile : profiles) {
            top = graph(profile, top);
        }
        legend(top);
        int height = top + LEGEND_HEIGHT;
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
                                + " font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"11\">%n"
                                + "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>%n",
                        WIDTH,
                        height,
                        WIDTH,
                        height)
                + svg
                + "</svg>\n";
    }

    /** Draws one flame graph, and returns the top of the next. */
    private int graph(Profile profile, int top) {
        FlameTree root = FlameTree.of(profile);
        double pixels = pixelsPerUnit / profile.records();
        int bottom = top + TITLE_HEIGHT + ROW_HEIGHT * root.height(MIN_FRAME_WIDTH / pixels);
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" font-size=\"14\" font-weight=\"bold\">%s</text>%n",
                MARGIN,
                top + TITLE_HEIGHT - 10,
                escape(profile.producer() + ": " + cost(profile, root.weight()) + " "
                        + profile.mode().costLabel())));
        callees(profile, root, MARGIN, bottom - ROW_HEIGHT, pixels);
        return bottom;
    }

    private void callees(Profile profile, FlameTree caller, double left, int top, double pixels) {
        double x = left;
        for (Map.Entry<Frame, FlameTree> callee : caller.children().entrySet()) {
            FlameTree node = callee.getValue();
            double width = node.weight() * pixels;
            if (width >= MIN_FRAME_WIDTH) {
                frame(callee.getKey(), cost(profile, node.weight()), x, top, width);
                callees(profile, node, x, top - ROW_HEIGHT, pixels);
            }
            x += width;
        }
    }

    private void frame(Frame frame, String cost, double x, int y, double width) {
        drawn.add(frame.kind());
        svg.append(String.format(
                Locale.ROOT,
                "<g><title>%s: %s</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                escape(frame.name()),
                cost,
                x,
                y,
                width - 0.5,
                ROW_HEIGHT - 1,
                frame.kind().colour()));
        int letters = (int) ((width - 6) / CHARACTER_WIDTH);
        if (letters >= 3) {
            String name = frame.name();
            String shown = name.length() <= letters ? name : name.substring(0, letters - 1) + "…";
            svg.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%d\">%s</text>", x + 3, y + 11, escape(shown)));
        }
        svg.append("</g>\n");
    }

    private void legend(int top) {
        double x = MARGIN;
        for (Frame.Kind kind : drawn) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                            + "<text x=\"%.1f\" y=\"%d\">%s</text>%n",
                    x,
                    top + 10,
                    kind.colour(),
                    x + 17,
                    top + 20,
                    escape(kind.meaning())));
            x += 17 + CHARACTER_WIDTH * kind.meaning().length() + 20;
        }
    }

    private static String cost(Profile profile, long weight) {
        return profile.mode().formatCost(profile.perRecord(weight));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
