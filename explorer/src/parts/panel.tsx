import type { ComponentChildren } from "preact";
import type { ApiRequest } from "../service/api-request.ts";
import { ApiButton } from "./api-button.tsx";

/** A part of a page with a heading, its tools and the API requests behind it. */
export function Panel(props: {
  readonly title: string;
  readonly requests?: readonly ApiRequest[];
  readonly tools?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class={`panel ${props.class ?? ""}`} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        <div class="tools">
          {props.tools}
          {props.requests !== undefined && <ApiButton requests={props.requests} />}
        </div>
      </header>
      {props.children}
    </section>
  );
}

/** A list of names and values. */
export function Facts(props: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {props.of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A row of large figures. */
export function Figures(props: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren, title?: string])[];
}) {
  return (
    <dl class="figures">
      {props.of.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
