/** The docs page: the API document as one page for people, without scripts and outside assets. */
import { createHash } from "node:crypto";
import { errorTable } from "../../base/errors.ts";
import type { ApiDocument, JsonSchema, Operation, Parameter, Response } from "./api-document.ts";
import { type Call, curlLine } from "./curl-line.ts";
import { nameOf, typeText } from "./describe-type.ts";
import { guide } from "./guide.ts";
import { Html, html } from "./html.ts";
import { style } from "./style.ts";

/** Lets the page have its own style and nothing else at all. */
export const docsContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** An operation with all that its part of the page is made of. */
type Entry = Omit<Operation, "parameters" | "responses"> &
  Call & { readonly responses: Readonly<Record<string, Response>> };

/** Renders the page. */
export function renderDocsPage(document: ApiDocument): string {
  const entries = entriesOf(document);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Oddwire API ${document.info.version}</title>
<style>${new Html(style)}</style>
</head>
<body>
<a class="skip" href="#top">Skip to the content</a>
${navigation(document, entries)}
<main id="top">
<h1>Oddwire API <span class="dim">${document.info.version}</span></h1>
<p>Trades, prices, candles, markets and resolutions of a prediction-market exchange, as the chain has them.
The same as a document for tools: <a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI ${document.openapi}).</p>
<pre tabindex="0"><code>URL=http://127.0.0.1:8080 KEY=ow_read_...
curl -s -H "X-API-Key: $KEY" "$URL/v1/markets?limit=5"</code></pre>
${guide.map(({ title, text }) => guideSection(title, text))}
${document.tags.map(({ name, description }) => {
  const own = entries.filter((entry) => entry.tags[0] === name);
  return html`<h2 id="${name}">${name}</h2>\n<p>${description}.</p>\n${own.map(endpoint)}`;
})}
<h2 id="objects">Objects</h2>
<p>What answers are made of. No field is ever absent; what is missing is null, unless it says otherwise.</p>
${Object.entries(document.components.schemas).map(([name, schema]) => objectTable(name, schema))}
${errorSection()}
</main>
</body>
</html>
`;
  return page.text;
}

function entriesOf({ paths, components }: ApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method,
      path,
      parameters: operation.parameters.filter((parameter) => "name" in parameter),
      responses: resolveResponses(operation, components.responses),
    })),
  );
}

function resolveResponses(
  { responses }: Operation,
  known: ApiDocument["components"]["responses"],
): Record<string, Response> {
  const resolved = Object.entries(responses).flatMap(([status, response]) => {
    const found = "$ref" in response ? known[nameOf(response.$ref)] : response;
    return found === undefined ? [] : [[status, found] as const];
  });
  return Object.fromEntries(resolved);
}

function navigation({ tags, info }: ApiDocument, entries: readonly Entry[]): Html {
  const groups = tags.map(({ name }) => {
    const links = entries
      .filter((entry) => entry.tags[0] === name)
      .map(
        ({ operationId: id, method, path }) =>
          html`<li><a href="#${id}">${badge(method)} ${path}</a></li>`,
      );
    return html`<h2>${name}</h2><ul>${links}</ul>`;
  });
  return html`<nav aria-label="Contents">
<strong>${info.title} ${info.version}</strong>
<h2>Guide</h2><ul>${guide.map(({ title }) => html`<li><a href="#${title}">${title}</a></li>`)}
<li><a href="#objects">Objects</a></li><li><a href="#codes">Error codes</a></li></ul>
${groups}
</nav>`;
}

function guideSection(title: string, text: string): Html {
  const paragraphs = text.split("\n\n").map((paragraph) => html`<p>${paragraph}</p>`);
  return html`<h2 id="${title}">${title}</h2>\n${paragraphs}\n`;
}

function endpoint(entry: Entry): Html {
  const { operationId: id, method, path, summary, parameters, requestBody, responses } = entry;
  const body = requestBody?.content["application/json"]?.schema;
  return html`<section>
<h3 id="${id}">${badge(method)} <a href="#${id}"><code>${path}</code></a></h3>
<p>${summary}. <span class="dim">${accessText(entry)}</span></p>
<pre tabindex="0"><code>${"101" in responses ? webSocketLine(path) : curlLine(entry)}</code></pre>
${parameters.length === 0 ? "" : table("Parameter", parameters.map(parameterRow))}
${body === undefined ? "" : table("Field", fieldRows(body))}
${Object.entries(responses).map(([status, response]) => answer(status, response))}
</section>
`;
}

/** What browsers and Node have can send no headers: the key is in the first frame. */
function webSocketLine(path: string): string {
  return [
    `const socket = new WebSocket("ws://127.0.0.1:8080${path}");`,
    "socket.onmessage = ({ data }) => console.log(data);",
    "const send = (frame) => socket.send(JSON.stringify(frame));",
    "socket.onopen = () => {",
    '  send({ action: "auth", api_key: "ow_read_..." });',
    '  send({ action: "subscribe", channel: { type: "trades" } });',
    "};",
  ].join("\n");
}

function accessText({ security, tags }: Entry): string {
  if (security.length === 0) return "No key; limited by IP.";
  if (security.some((one) => Object.keys(one).length === 0))
    return "Needs a key, in the header or in the first frame.";
  return tags[0] === "Administration" ? "Needs a key of scope admin." : "Needs a key.";
}

function parameterRow({ name, required, description, schema }: Parameter): Html {
  const need = required ? "required" : "";
  return row(name, typeText(schema), [description, need]);
}

function fieldRows({ properties = {}, required = [] }: JsonSchema): Html[] {
  return Object.entries(properties).map(([name, field]) => {
    const need = required.includes(name) ? "" : "may be absent";
    return row(name, typeText(field), [field.description, need]);
  });
}

function row(name: string, type: Html, notes: readonly (string | undefined)[]): Html {
  const sent = notes.filter((note) => note !== undefined && note !== "").join("; ");
  return html`<tr><th scope="row">${name}<td>${type}<td>${sent}`;
}

/** End tags of cells and rows may be left out, and there are hundreds of them. */
function table(what: string, rows: readonly Html[]): Html {
  return html`<table><thead><tr><th scope="col">${what}<th scope="col">Type<th scope="col">
<tbody>${rows}</table>`;
}

/** Errors are sent by their codes, everything else by its fields. */
function answer(status: string, { content }: Response): Html {
  const [[type, media] = []] = Object.entries(content);
  if (media === undefined) return html`<p>${status}</p>`;
  if (media.examples !== undefined) {
    const codes = Object.keys(media.examples).map((code) => html` <a href="#${code}">${code}</a>`);
    return html`<span class="dim">${status}</span>${codes} `;
  }
  if (type !== "application/json") return html`<h4>${status}: ${type ?? ""}</h4>`;
  const fields = fieldRows(media.schema);
  return html`<details><summary>${status}: ${typeText(media.schema)}</summary>${table("Field", fields)}</details>`;
}

function objectTable(name: string, schema: JsonSchema): Html {
  const { description } = schema;
  const about = description === undefined ? "" : html`<p>${description}.</p>`;
  const content =
    schema.properties === undefined
      ? html`<p><code>${typeText(schema)}</code></p>`
      : table("Field", fieldRows(schema));
  return html`<section><h3 id="${name}">${name}</h3>${about}${content}</section>\n`;
}

function errorSection(): Html {
  const rows = Object.entries(errorTable).map(
    ([code, { status, message, retryable }]) =>
      html`<tr id="${code}"><th scope="row">${code}<td>${status}<td>${message}${retryable ? "; may be retried" : ""}`,
  );
  return html`<h2 id="codes">Error codes</h2>
<table><tbody>${rows}</table>`;
}

function badge(method: string): Html {
  return html`<span class="${method}">${method.toUpperCase()}</span>`;
}
