// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Collateral} from "./Collateral.sol";
import {ConditionalTokens} from "./ConditionalTokens.sol";

/// Makes pairs of outcome tokens from collateral and back: ConditionalTokens itself, or the
/// neg-risk adapter, which wraps the collateral first.
interface IMinter {
    function splitPosition(address collateral, bytes32 conditionId, uint256 amount, address[] calldata holders) external;
    function mergePositions(address collateral, bytes32 conditionId, uint256 amount) external;
}

/// What both generations share: roles, the pause, and moving assets. Orders bear no signatures, and
/// what is left of one is not kept (each slot of storage slows every later block of the local node):
/// the operator is trusted with both. What a trader has approved, and what he owns, still binds.
abstract contract Exchange {
    enum Side { BUY, SELL }

    event NewOperator(address indexed newOperatorAddress, address indexed admin);
    event TradingPaused(address indexed pauser);
    event TradingUnpaused(address indexed pauser);

    /// Everything the exchange touches. `backing` is the collateral in the formula of token ids.
    struct Setup {
        Collateral collateral;
        ConditionalTokens tokens;
        IMinter minter;
        address backing;
    }

    /// The asset id of cash; every other id is that of an outcome token.
    uint256 internal constant CASH = 0;

    address public immutable admin = msg.sender;
    Collateral internal immutable collateral;
    ConditionalTokens internal immutable tokens;
    IMinter internal immutable minter;
    address internal immutable backing;
    bool public paused;
    mapping(address account => bool) public isOperator;

    modifier onlyAdmin() {
        require(msg.sender == admin, "not the admin");
        _;
    }

    modifier whileTrading() {
        require(isOperator[msg.sender], "not an operator");
        require(!paused, "trading is paused");
        _;
    }

    /// Starts paused.
    constructor(Setup memory setup) {
        collateral = setup.collateral;
        tokens = setup.tokens;
        minter = setup.minter;
        backing = setup.backing;
        setup.collateral.approve(address(setup.minter), type(uint256).max);
        setup.tokens.setApprovalForAll(address(setup.minter), true);
        paused = true;
        emit TradingPaused(msg.sender);
    }

    function addOperator(address operator) external onlyAdmin {
        isOperator[operator] = true;
        emit NewOperator(operator, msg.sender);
    }

    function pauseTrading() external onlyAdmin {
        paused = true;
        emit TradingPaused(msg.sender);
    }

    function unpauseTrading() external onlyAdmin {
        paused = false;
        emit TradingUnpaused(msg.sender);
    }

    /// No order gets less for what it gives than it asked for.
    function _requireLimit(uint256 making, uint256 taking, uint256 makerAmount, uint256 takerAmount) internal pure {
        require(taking * makerAmount >= making * takerAmount, "below the limit price");
    }

    function _pull(address from, uint256 asset, uint256 amount) internal {
        if (asset == CASH) collateral.transferFrom(from, address(this), amount);
        else tokens.transferFrom(from, address(this), asset, amount);
    }

    function _push(address to, uint256 asset, uint256 amount) internal {
        if (amount == 0) return;
        if (asset == CASH) collateral.transfer(to, amount);
        else tokens.transferFrom(address(this), to, asset, amount);
    }

    function _held(uint256 asset) internal view returns (uint256) {
        return asset == CASH ? collateral.balanceOf(address(this)) : tokens.balanceOf(address(this), asset);
    }

    function _split(bytes32 conditionId, uint256 amount) internal {
        if (amount == 0) return;
        address[] memory holders = new address[](1);
        holders[0] = address(this);
        minter.splitPosition(address(collateral), conditionId, amount, holders);
    }

    function _merge(bytes32 conditionId, uint256 amount) internal {
        if (amount > 0) minter.mergePositions(address(collateral), conditionId, amount);
    }
}
