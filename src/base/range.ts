/** The two ends of an interval. Whether they belong to it, and their unit, is said where one is used. */
export type Range<T> = { readonly from: T; readonly to: T };
