import { useState } from "preact/hooks";
import { paths } from "../routing/paths.ts";
import {
  type ApiRequest,
  getUrl,
  type Language,
  languages,
  toCode,
} from "../service/api-request.ts";
import { toFailure } from "../service/failure.ts";
import { fetchFile } from "../service/session.ts";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { Segments } from "./tabs.tsx";

const fileFormats = ["csv", "parquet", "ndjson"] as const;

/** Shows the requests behind a view as code, and saves its lists as files. */
export function ApiButton({ requests }: { readonly requests: readonly ApiRequest[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="api" onClick={() => setOpen(true)}>
        API
      </button>
      {isOpen && <ApiDialog requests={requests} onClose={() => setOpen(false)} />}
    </>
  );
}

function ApiDialog(props: {
  readonly requests: readonly ApiRequest[];
  readonly onClose: () => void;
}) {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <Dialog title="This view, from the API" onClose={props.onClose}>
      <Segments label="Language" words={languages} chosen={language} onChoose={setLanguage} />
      {props.requests.map((request) => (
        <RequestCode key={request.title} request={request} language={language} />
      ))}
      <p class="dim">
        Everything on this page comes from the public API. <a href={paths.reference}>Reference</a>
      </p>
    </Dialog>
  );
}

function RequestCode(props: { readonly request: ApiRequest; readonly language: Language }) {
  const { request, language } = props;
  const code = toCode(request, language);
  return (
    <section class="code">
      <header>
        <h3>{request.title}</h3>
        <CopyButton text={code} label={`Copy ${request.title}`} />
      </header>
      <pre tabIndex={0}>{code}</pre>
      {request.isBulk === true && <FileButtons request={request} />}
    </section>
  );
}

function FileButtons({ request }: { readonly request: ApiRequest }) {
  const [reported, setReported] = useState("");
  const save = (format: string): void => {
    setReported(`Reading ${format}…`);
    const query = { ...request.query, limit: undefined, include: undefined, format };
    fetchFile(getUrl({ ...request, query }), `oddwire.${format}`).then(
      () => setReported("Saved."),
      (thrown: unknown) => setReported(toFailure(thrown).message),
    );
  };
  return (
    <p class="row dim">
      All rows as
      {fileFormats.map((format) => (
        <button type="button" class="quiet small" key={format} onClick={() => save(format)}>
          {format}
        </button>
      ))}
      <span role="status">{reported}</span>
    </p>
  );
}
