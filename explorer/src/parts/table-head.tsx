/** A column: its name, and the classes of its head. */
export type Column = readonly [name: string, classes?: string];

/** The head of a table. */
export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(([name, classes = ""]) => (
          <th scope="col" key={name} class={classes}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Returns the attributes of the region in which a wide table scrolls. */
export const scrolling = (label: string) =>
  ({ class: "scroll", tabIndex: 0, role: "region", "aria-label": `${label}, scrollable` }) as const;
