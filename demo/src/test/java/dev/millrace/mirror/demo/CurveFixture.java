package dev.millrace.mirror.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Invented figures for curves. */
final class CurveFixture {
    static final DemoPlan PLAN = new DemoPlan(
            new DemoLoad(2_000_000, 100),
            DemoPlan.doublings(32),
            List.of(
                    Contender.STOCK,
                    Contender.MILLRACE_CONSUMER,
                    Contender.MIRRORMAKER1,
                    Contender.MIRRORMAKER1_TUNED,
                    Contender.MIRRORMAKER2),
            3);

    /** At 4 threads three are almost equal; MirrorMaker's last speed equals that of the JIRA. */
    static final Map<Contender, List<Integer>> SPEEDS = Map.of(
            Contender.STOCK, List.of(521_051, 480_000, 700_100, 380_000, 350_000, 330_017),
            Contender.MILLRACE_CONSUMER, List.of(725_837, 718_000, 701_000, 690_000, 1_234_567, 707_769),
            Contender.MIRRORMAKER1, List.of(494_000, 440_000, 700_000, 330_000, 290_000, 358_000),
            Contender.MIRRORMAKER1_TUNED, List.of(600_000, 610_000, 620_000, 400_000, 390_000, 380_000),
            Contender.MIRRORMAKER2, List.of(250_000));

    private CurveFixture() {}

    static List<DemoRow> rows() {
        List<DemoRow> rows = new ArrayList<>();
        for (Contender contender : PLAN.contenders()) {
            boolean keepsPartitions = !contender.isMirrorMaker1();
            List<Integer> threads = PLAN.threads(contender);
            for (int i = 0; i < threads.size(); i++) {
                int speed = SPEEDS.get(contender).get(i);
                rows.add(new DemoRow(
                        contender,
                        threads.get(i),
                        new Measurement.Figures(speed, new CpuPerRecord(2_500, 100), 1_000, 2_000),
                        keepsPartitions ? "exact" : "every record once, partitions differ",
                        true));
            }
        }
        return rows;
    }
}
