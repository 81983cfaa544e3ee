package dev.millrace.mirror.run;

import dev.millrace.mirror.text.MirrorException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers objects with JMX until it is closed. If JMX is unavailable, the mirror runs without it.
 *
 * <p><b>Threads:</b> the thread that runs the mirror.
 */
public final class JmxBeans implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JmxBeans.class);

    private final String group;
    private final List<ObjectName> names = new ArrayList<>();

    /** @param group of the mirror; it distinguishes mirrors in one process */
    public JmxBeans(String group) {
        this.group = group;
    }

    public void show(String type, Object bean) {
        try {
            ObjectName name = new ObjectName("dev.millrace.mirror:type=" + type + ",group=" + ObjectName.quote(group));
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, name);
            names.add(name);
        } catch (JMException e) {
            LOG.warn("JMX does not show {} of group {}: {}", type, group, MirrorException.reason(e));
        }
    }

    @Override
    public void close() {
        for (ObjectName name : names) {
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
            } catch (JMException e) {
                LOG.debug("Could not unregister {}", name, e);
            }
        }
    }
}
