// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Collateral} from "./Collateral.sol";
import {ConditionalTokens} from "./ConditionalTokens.sol";
import {Exchange} from "./Exchange.sol";
import {ExchangeV1} from "./ExchangeV1.sol";

/// Stands before an exchange of generation 1: orders are signed with the highest fee, and this
/// module gives back what is more than the schedule says. Makers get everything back.
contract FeeModule {
    event FeeRefunded(bytes32 indexed orderHash, address indexed to, uint256 id, uint256 refund, uint256 indexed feeCharged);

    address public immutable operator;
    ExchangeV1 private immutable exchange;
    Collateral private immutable collateral;
    ConditionalTokens private immutable tokens;

    constructor(ExchangeV1 exchange_, Exchange.Setup memory setup, address operator_) {
        operator = operator_;
        exchange = exchange_;
        collateral = setup.collateral;
        tokens = setup.tokens;
    }

    /// Keeps `keptBps` of 10,000 of the taker's fee.
    function matchOrders(ExchangeV1.Match calldata m, uint256 keptBps) external {
        require(msg.sender == operator, "not the operator");
        (uint256 takerFee, uint256[] memory makerFees) = exchange.matchOrders(m);
        for (uint256 i = 0; i < m.makers.length; i++) _refund(m.makers[i], makerFees[i], 0);
        _refund(m.taker, takerFee, (takerFee * keptBps) / 10_000);
    }

    function _refund(ExchangeV1.Order calldata order, uint256 charged, uint256 kept) private {
        uint256 refund = charged - kept;
        if (refund == 0) return;
        uint256 id = order.side == Exchange.Side.BUY ? order.tokenId : 0;
        if (id == 0) collateral.transfer(order.maker, refund);
        else tokens.transferFrom(address(this), order.maker, id, refund);
        emit FeeRefunded(exchange.hashOrder(order), order.maker, id, refund, kept);
    }
}
