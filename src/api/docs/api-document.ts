/**
 * The part of OpenAPI 3.1 that our document uses. Schemas are JSON Schema, with references to the
 * components that are named in `components.ts`.
 */

/** A JSON Schema, as plain JSON, with the keywords that ours use. */
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

/** A pointer to a component, such as `#/components/schemas/Trade`. */
export type Reference = { readonly $ref: string };

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: JsonSchema;
  readonly style?: "form";
  /** False for lists: they have commas between their items and are not repeated. */
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
    /** Of errors: one for each code, by its name. */
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
};

export type Response = {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content: Content;
};
