import type { Job } from "../api/types";
import type { Route } from "../route";
import { StateBrowser } from "../state/state-browser";

/** The state of the job as of its newest checkpoint or savepoint. */
export function JobStateTab({ job, route }: { job: Job; route: Route }) {
  return <StateBrowser source={{ job: job.jid }} route={route} />;
}
