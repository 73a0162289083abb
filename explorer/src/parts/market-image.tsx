const origins = document
  .querySelector<HTMLMetaElement>('meta[name="image-origins"]')
  ?.content.split(" ");

/** The picture of a market at the venue, if the operator lets browsers load it from there. */
export function MarketImage({ url }: { readonly url: string | null }) {
  if (url === null || origins?.includes(new URL(url).origin) !== true) return null;
  return (
    <img
      class="market-image"
      src={url}
      alt=""
      width={32}
      height={32}
      loading="lazy"
      referrerpolicy="no-referrer"
    />
  );
}
