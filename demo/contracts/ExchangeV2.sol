// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Exchange} from "./Exchange.sol";

/// An exchange of generation 2: no registry and no cancellation, fees in cash as the operator says,
/// outside the amounts, and one split or merge for a whole match.
contract ExchangeV2 is Exchange {
    event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, Side side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee, bytes32 builder, bytes32 metadata);
    event OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, Side side, uint256 tokenId, uint256 makerAmountFilled, uint256 takerAmountFilled);
    event FeeCharged(address indexed receiver, uint256 amount);
    event FeeReceiverUpdated(address indexed feeReceiver);

    struct Order {
        uint256 salt;
        address maker;
        uint256 tokenId;
        uint256 makerAmount;
        uint256 takerAmount;
        Side side;
        bytes32 metadata;
        bytes32 builder;
    }

    /// `takerFill` and `makerFills` are in what each order gives; fees are cash.
    struct Match {
        bytes32 conditionId;
        Order taker;
        Order[] makers;
        uint256 takerFill;
        uint256[] makerFills;
        uint256 takerFee;
        uint256[] makerFees;
    }

    struct Fill {
        uint256 making;
        uint256 taking;
        uint256 fee;
    }

    /// What a match comes to: the taker's part, what he gets back of it, and the shares made (for
    /// a buyer) or unmade (for a seller) because makers were on his side with the other token.
    struct Plan {
        Fill taker;
        uint256 refund;
        uint256 crossing;
    }

    address public immutable feeReceiver;

    constructor(Setup memory setup, address feeReceiver_) Exchange(setup) {
        feeReceiver = feeReceiver_;
        emit FeeReceiverUpdated(feeReceiver_);
    }

    function matchOrders(Match calldata m) external whileTrading {
        Plan memory plan = _plan(m);
        _collect(m.taker, plan.taker);
        for (uint256 i = 0; i < m.makers.length; i++) _collect(m.makers[i], _makerFill(m, i));
        if (m.taker.side == Side.BUY) _split(m.conditionId, plan.crossing);
        else _merge(m.conditionId, plan.crossing);
        for (uint256 i = 0; i < m.makers.length; i++) _deliver(m.makers[i], _makerFill(m, i), m.taker.maker);
        _push(m.taker.maker, m.taker.side == Side.BUY ? CASH : m.taker.tokenId, plan.refund);
        _deliver(m.taker, plan.taker, address(this));
        emit OrdersMatched(hashOrder(m.taker), m.taker.maker, m.taker.side, m.taker.tokenId, plan.taker.making, plan.taker.taking);
    }

    function hashOrder(Order calldata order) public view returns (bytes32) {
        return keccak256(abi.encode(address(this), order));
    }

    /// A taker who meets opposite orders only gives what they ask. Any other gives all he was to
    /// give and gets the rest back, of which his row tells nothing.
    function _plan(Match calldata m) private returns (Plan memory plan) {
        uint256 complement = _complementOf(m.conditionId, m.taker.tokenId);
        uint256 cash = 0;
        uint256 shares = 0;
        for (uint256 i = 0; i < m.makers.length; i++) {
            Fill memory fill = _makerFill(m, i);
            bool isBuy = m.makers[i].side == Side.BUY;
            bool sameSide = m.makers[i].side == m.taker.side;
            require(m.makers[i].tokenId == (sameSide ? complement : m.taker.tokenId), "orders do not match");
            (uint256 makerCash, uint256 makerShares) = isBuy ? (fill.making, fill.taking) : (fill.taking, fill.making);
            cash += sameSide ? makerShares - makerCash : makerCash;
            shares += makerShares;
            if (sameSide) plan.crossing += makerShares;
        }
        (uint256 spent, uint256 taking) = m.taker.side == Side.BUY ? (cash, shares) : (shares, cash);
        _requireLimit(spent, taking, m.taker.makerAmount, m.taker.takerAmount);
        require(spent <= m.takerFill, "makers ask for more than the fill");
        plan.taker = Fill(plan.crossing > 0 ? m.takerFill : spent, taking, m.takerFee);
        plan.refund = plan.taker.making - spent;
    }

    function _complementOf(bytes32 conditionId, uint256 tokenId) private returns (uint256) {
        uint256[] memory ids = tokens.positionIds(backing, conditionId);
        require(tokenId == ids[0] || tokenId == ids[1], "token of another condition");
        return tokenId == ids[0] ? ids[1] : ids[0];
    }

    function _makerFill(Match calldata m, uint256 i) private pure returns (Fill memory) {
        uint256 taking = (m.makerFills[i] * m.makers[i].takerAmount) / m.makers[i].makerAmount;
        return Fill(m.makerFills[i], taking, m.makerFees[i]);
    }

    /// A buyer pays his fee on top of his cash.
    function _collect(Order calldata order, Fill memory fill) private {
        if (order.side == Side.BUY) _pull(order.maker, CASH, fill.making + fill.fee);
        else _pull(order.maker, order.tokenId, fill.making);
    }

    /// A seller pays his fee out of his cash. The fee's event precedes the fill it belongs to.
    function _deliver(Order calldata order, Fill memory fill, address taker) private {
        if (order.side == Side.BUY) _push(order.maker, order.tokenId, fill.taking);
        else _push(order.maker, CASH, fill.taking - fill.fee);
        if (fill.fee > 0) {
            _push(feeReceiver, CASH, fill.fee);
            emit FeeCharged(feeReceiver, fill.fee);
        }
        emit OrderFilled(hashOrder(order), order.maker, taker, order.side, order.tokenId, fill.making, fill.taking, fill.fee, order.builder, order.metadata);
    }
}
