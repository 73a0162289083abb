/** The two ends of an interval. Each use defines their unit, and whether they are inclusive. */
export type Range<T> = { readonly from: T; readonly to: T };
