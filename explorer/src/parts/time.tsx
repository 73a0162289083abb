import { unknown } from "../format/numbers.ts";
import { date, dateAndTime, fullTime, timeTooltip } from "../format/times.ts";

const forms = { date, minute: dateAndTime, second: fullTime };

/** A time in the viewer's zone. The tooltip has it to the second, and in UTC. */
export function Time(props: { readonly at: number | null; readonly form?: keyof typeof forms }) {
  const { at, form = "minute" } = props;
  if (at === null) return <>{unknown}</>;
  return (
    <time dateTime={new Date(at).toISOString()} title={timeTooltip(at)}>
      {forms[form](at)}
    </time>
  );
}
