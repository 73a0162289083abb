/** The fields of each kind of row. Every row has all of them. */
const place = words(
  "id seq block_number block_hash log_index tx_hash timestamp timestamp_ms status",
);
const token = words("token_id complement_token_id condition_id outcome outcome_index");
const exchange = words("exchange exchange_version exchange_address");
const fill = words(`side price size value_usd maker_amount_raw taker_amount_raw
  module builder metadata taker taker_order_hash`);

export const rowShapes = {
  trade: [
    ...place,
    ...token,
    ...exchange,
    ...fill,
    ...words(`match_seq match_type maker maker_side maker_token_id maker_order_hash
      maker_fee maker_fee_net maker_fee_asset`),
  ],
  match: [
    ...place,
    ...token,
    ...exchange,
    ...fill,
    ...words("taker_fill_seq legs taker_fee taker_fee_net taker_fee_asset"),
  ],
  cancellation: [...place, ...exchange, ...words("kind order_hash user effective_block")],
  resolution: [
    ...place,
    ...words("derived condition_id question_id oracle payouts winning_token_id winning_outcome"),
    "mirror_resolution",
  ],
  market: words(`id question_id question description slug category tags event_id event_slug image
    neg_risk neg_risk_market_id oracle exchange_versions status active outcome_count
    created_at created_at_ms created_block start_date end_date resolved_at resolved_at_ms resolution tokens
    volume_usd volume_shares trades volume_24h_usd trades_24h change_24h liquidity_usd open_interest_usd mirror legs legs_payout
    last_trade_at last_trade_at_ms metadata_source`),
} as const;

function words(text: string): string[] {
  return text.split(/\s+/);
}
