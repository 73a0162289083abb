/** Why an endpoint cannot be asked, as a phrase. `isPause`: only because it asked for a pause. */
export type EndpointProblem = { readonly isPause: boolean; readonly text: string };

/** A problem that is no pause. */
export function fails(text: string): EndpointProblem {
  return { isPause: false, text };
}
