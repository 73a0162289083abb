/**
 * The part of OpenAPI 3.1 that our document uses. Schemas are JSON Schema and refer to the components in
 * `components.ts`.
 */

/** A JSON Schema as plain JSON, with the keywords that we use. */
export type JsonSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: string | number | boolean;
  readonly const?: string | number;
  readonly enum?: readonly (string | number)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly anyOf?: readonly JsonSchema[];
};

/** A reference to a component, such as `#/components/schemas/Trade`. */
export type Reference = { readonly $ref: string };

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  /** What a required parameter is filled in with. */
  readonly example?: unknown;
  /** An optional parameter is not filled in: viewers send whatever `example` or a schema suggests. */
  readonly examples?: {
    readonly sample: { readonly value: unknown; readonly "x-disabled": true };
  };
  readonly schema: JsonSchema;
  readonly style?: "form";
  /** `false` for lists: items are separated by commas and the parameter is not repeated. */
  readonly explode?: boolean;
};

export type Header = {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
};

export type Content = {
  readonly [mediaType: string]: {
    readonly schema: JsonSchema;
    readonly example?: unknown;
    /** Examples of errors, by error code. */
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
};

export type Response = {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content: Content;
};
