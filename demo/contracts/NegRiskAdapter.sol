// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Collateral} from "./Collateral.sol";
import {ConditionalTokens} from "./ConditionalTokens.sol";

/// Markets of several questions of which one at most is true. It is the oracle of their conditions,
/// and backs their tokens with a dollar of its own that wraps the plain one.
contract NegRiskAdapter {
    event MarketPrepared(bytes32 indexed marketId, address indexed oracle, uint256 feeBips, bytes data);
    event QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId, uint256 index, bytes data);
    event OutcomeReported(bytes32 indexed marketId, bytes32 indexed questionId, bool outcome);
    event PositionSplit(address indexed stakeholder, bytes32 indexed conditionId, uint256 amount);
    event PositionsMerge(address indexed stakeholder, bytes32 indexed conditionId, uint256 amount);

    ConditionalTokens private immutable tokens;
    Collateral private immutable collateral;
    Collateral private immutable wrapped;
    mapping(bytes32 marketId => address) public oracleOf;
    mapping(bytes32 marketId => uint256) public questionCount;
    mapping(bytes32 marketId => bool) public isDetermined;

    constructor(ConditionalTokens tokens_, Collateral collateral_, Collateral wrapped_) {
        tokens = tokens_;
        collateral = collateral_;
        wrapped = wrapped_;
        wrapped_.approve(address(tokens_), type(uint256).max);
    }

    /// The id leaves its last byte for the number of a question.
    function prepareMarket(uint256 feeBips, bytes calldata data) external returns (bytes32 marketId) {
        marketId = _marketOf(keccak256(abi.encode(msg.sender, feeBips, data)));
        require(oracleOf[marketId] == address(0), "prepared before");
        oracleOf[marketId] = msg.sender;
        emit MarketPrepared(marketId, msg.sender, feeBips, data);
    }

    function prepareQuestion(bytes32 marketId, bytes calldata data) external returns (bytes32 questionId, uint256 index) {
        require(msg.sender == oracleOf[marketId], "not the oracle");
        index = questionCount[marketId]++;
        require(index < 256, "too many questions");
        questionId = bytes32(uint256(marketId) | index);
        tokens.prepareCondition(address(this), questionId, 2);
        emit QuestionPrepared(marketId, questionId, index, data);
    }

    function reportOutcome(bytes32 questionId, bool outcome) external {
        bytes32 marketId = _marketOf(questionId);
        require(msg.sender == oracleOf[marketId], "not the oracle");
        require(!outcome || !isDetermined[marketId], "another question was true");
        if (outcome) isDetermined[marketId] = true;
        uint256[] memory payouts = new uint256[](2);
        payouts[outcome ? 0 : 1] = 1;
        tokens.reportPayouts(questionId, payouts);
        emit OutcomeReported(marketId, questionId, outcome);
    }

    /// Takes plain dollars. The collateral is named only to fit the shape of ConditionalTokens.
    function splitPosition(address, bytes32 conditionId, uint256 amount, address[] calldata holders) external {
        collateral.transferFrom(msg.sender, address(this), amount * holders.length);
        wrapped.mint(address(this), amount * holders.length);
        address[] memory self = new address[](1);
        self[0] = address(this);
        tokens.splitPosition(address(wrapped), conditionId, amount * holders.length, self);
        uint256[] memory ids = tokens.positionIds(address(wrapped), conditionId);
        for (uint256 i = 0; i < holders.length; i++) {
            for (uint256 j = 0; j < 2; j++) tokens.transferFrom(address(this), holders[i], ids[j], amount);
        }
        emit PositionSplit(msg.sender, conditionId, amount * holders.length);
    }

    function mergePositions(address, bytes32 conditionId, uint256 amount) external {
        uint256[] memory ids = tokens.positionIds(address(wrapped), conditionId);
        for (uint256 i = 0; i < 2; i++) tokens.transferFrom(msg.sender, address(this), ids[i], amount);
        tokens.mergePositions(address(wrapped), conditionId, amount);
        wrapped.burn(amount);
        collateral.transfer(msg.sender, amount);
        emit PositionsMerge(msg.sender, conditionId, amount);
    }

    function _marketOf(bytes32 id) private pure returns (bytes32) {
        return bytes32((uint256(id) >> 8) << 8);
    }
}
