// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Collateral} from "./Collateral.sol";
import {ConditionalTokens} from "./ConditionalTokens.sol";
import {IMinter} from "./Exchange.sol";

/// Equips the traders of the demo: everybody can sell either outcome from the first block on.
contract Purse {
    ConditionalTokens private immutable tokens;
    Collateral private immutable collateral;

    constructor(ConditionalTokens tokens_, Collateral collateral_) {
        tokens = tokens_;
        collateral = collateral_;
    }

    /// Splits dollars of this contract into pairs and hands `amount` of both tokens to each trader.
    function equip(IMinter minter, bytes32 conditionId, uint256[2] calldata ids, address[] calldata traders, uint256 amount) external {
        collateral.approve(address(minter), type(uint256).max);
        minter.splitPosition(address(collateral), conditionId, amount * traders.length);
        for (uint256 i = 0; i < traders.length; i++) {
            tokens.transferFrom(address(this), traders[i], ids[0], amount);
            tokens.transferFrom(address(this), traders[i], ids[1], amount);
        }
    }
}
