// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Exchange} from "./Exchange.sol";

/// An exchange of generation 1: registered tokens, fees in the asset an order receives, and a
/// taker's row that shows what the exchange held for him, price improvement included.
contract ExchangeV1 is Exchange {
    event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee);
    event OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled);
    event OrderCancelled(bytes32 indexed orderHash);
    event FeeCharged(address indexed receiver, uint256 tokenId, uint256 amount);
    event TokenRegistered(uint256 indexed token0, uint256 indexed token1, bytes32 indexed conditionId);

    struct Order {
        uint256 salt;
        address maker;
        uint256 tokenId;
        uint256 makerAmount;
        uint256 takerAmount;
        uint256 feeRateBps;
        Side side;
    }

    /// `takerFill` and `makerFills` are in what each order gives.
    struct Match {
        Order taker;
        Order[] makers;
        uint256 takerFill;
        uint256[] makerFills;
    }

    struct Amounts {
        uint256 making;
        uint256 taking;
        uint256 fee;
    }

    mapping(uint256 tokenId => uint256) public complementOf;
    mapping(uint256 tokenId => bytes32) public conditionOf;

    constructor(Setup memory setup) Exchange(setup) {}

    function registerToken(uint256 token0, uint256 token1, bytes32 conditionId) external onlyAdmin {
        require(conditionOf[token0] == bytes32(0) && conditionOf[token1] == bytes32(0), "registered before");
        (complementOf[token0], complementOf[token1]) = (token1, token0);
        (conditionOf[token0], conditionOf[token1]) = (conditionId, conditionId);
        emit TokenRegistered(token0, token1, conditionId);
        emit TokenRegistered(token1, token0, conditionId);
    }

    function cancelOrder(Order calldata order) external {
        require(msg.sender == order.maker, "not the maker");
        emit OrderCancelled(hashOrder(order));
    }

    /// Returns the fees, which the caller, a fee module, has received and may give back in part.
    function matchOrders(Match calldata m) external whileTrading returns (uint256 takerFee, uint256[] memory makerFees) {
        Order calldata taker = m.taker;
        _pull(taker.maker, _makerAsset(taker), m.takerFill);
        makerFees = new uint256[](m.makers.length);
        for (uint256 i = 0; i < m.makers.length; i++) {
            makerFees[i] = _fillMaker(taker, m.makers[i], m.makerFills[i]);
        }
        Amounts memory amounts = Amounts(m.takerFill, _held(_takerAsset(taker)), 0);
        _requireLimit(amounts.making, amounts.taking, taker.makerAmount, taker.takerAmount);
        takerFee = amounts.fee = _fee(taker, amounts.making, amounts.taking, amounts);
        _settle(taker, amounts);
        _push(taker.maker, _makerAsset(taker), _held(_makerAsset(taker)));
        _emitFilled(taker, address(this), amounts);
        emit OrdersMatched(hashOrder(taker), taker.maker, _makerAsset(taker), _takerAsset(taker), amounts.making, amounts.taking);
    }

    function hashOrder(Order calldata order) public view returns (bytes32) {
        return keccak256(abi.encode(address(this), order));
    }

    /// Each maker is served by himself, with a split or merge of his own where the sides are equal.
    function _fillMaker(Order calldata taker, Order calldata maker, uint256 making) private returns (uint256) {
        bool sameSide = maker.side == taker.side;
        require(maker.tokenId == (sameSide ? complementOf[taker.tokenId] : taker.tokenId), "orders do not match");
        Amounts memory amounts = Amounts(making, (making * maker.takerAmount) / maker.makerAmount, 0);
        amounts.fee = _fee(maker, maker.makerAmount, maker.takerAmount, amounts);
        _pull(maker.maker, _makerAsset(maker), making);
        if (sameSide && maker.side == Side.BUY) _split(conditionOf[maker.tokenId], amounts.taking);
        if (sameSide && maker.side == Side.SELL) _merge(conditionOf[maker.tokenId], making);
        _settle(maker, amounts);
        _emitFilled(maker, taker.maker, amounts);
        return amounts.fee;
    }

    function _settle(Order calldata order, Amounts memory amounts) private {
        uint256 asset = _takerAsset(order);
        _push(order.maker, asset, amounts.taking - amounts.fee);
        if (amounts.fee == 0) return;
        _push(msg.sender, asset, amounts.fee);
        emit FeeCharged(msg.sender, asset, amounts.fee);
    }

    /// The signed rate on the smaller of price and 1 - price, in the asset the order receives. The
    /// price is that of `making` for `taking`: the limit for a maker, what came of it for a taker.
    function _fee(Order calldata order, uint256 making, uint256 taking, Amounts memory amounts) private pure returns (uint256) {
        if (order.feeRateBps == 0 || making == 0 || taking == 0) return 0;
        (uint256 cash, uint256 shares) = order.side == Side.BUY ? (making, taking) : (taking, making);
        if (cash >= shares) return 0;
        uint256 smaller = cash * 2 < shares ? cash : shares - cash;
        return order.side == Side.BUY
            ? (order.feeRateBps * smaller * amounts.taking) / (cash * 10_000)
            : (order.feeRateBps * smaller * amounts.making) / (shares * 10_000);
    }

    function _emitFilled(Order calldata order, address taker, Amounts memory amounts) private {
        emit OrderFilled(hashOrder(order), order.maker, taker, _makerAsset(order), _takerAsset(order), amounts.making, amounts.taking, amounts.fee);
    }

    function _makerAsset(Order calldata order) private pure returns (uint256) {
        return order.side == Side.BUY ? CASH : order.tokenId;
    }

    function _takerAsset(Order calldata order) private pure returns (uint256) {
        return order.side == Side.BUY ? order.tokenId : CASH;
    }
}
