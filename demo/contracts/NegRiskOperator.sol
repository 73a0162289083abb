// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {NegRiskAdapter} from "./NegRiskAdapter.sol";

/// Prepares neg-risk markets, and takes the answers of the UMA adapter to the requests behind their
/// questions. To that adapter it looks like ConditionalTokens.
contract NegRiskOperator {
    event MarketPrepared(bytes32 indexed marketId, uint256 feeBips, bytes data);
    event QuestionPrepared(bytes32 indexed marketId, bytes32 indexed questionId, bytes32 indexed requestId, uint256 index, bytes data);
    event QuestionReported(bytes32 indexed questionId, bytes32 requestId, bool result);
    event QuestionResolved(bytes32 indexed questionId, bool result);

    address public immutable admin = msg.sender;
    address public immutable oracle;
    NegRiskAdapter private immutable adapter;
    mapping(bytes32 requestId => bytes32) public questionOf;

    modifier onlyAdmin() {
        require(msg.sender == admin, "not the admin");
        _;
    }

    constructor(NegRiskAdapter adapter_, address oracle_) {
        adapter = adapter_;
        oracle = oracle_;
    }

    function prepareMarket(uint256 feeBips, bytes calldata data) external onlyAdmin {
        bytes32 marketId = adapter.prepareMarket(feeBips, data);
        emit MarketPrepared(marketId, feeBips, data);
    }

    function prepareQuestion(bytes32 marketId, bytes calldata data, bytes32 requestId) external onlyAdmin {
        (bytes32 questionId, uint256 index) = adapter.prepareQuestion(marketId, data);
        questionOf[requestId] = questionId;
        emit QuestionPrepared(marketId, questionId, requestId, index, data);
    }

    /// The adapter below prepares the condition; a request alone needs none.
    function prepareCondition(address, bytes32, uint256) external pure {}

    function reportPayouts(bytes32 requestId, uint256[] calldata payouts) external {
        require(msg.sender == oracle, "not the oracle");
        require(payouts.length == 2 && payouts[0] + payouts[1] == 1, "a tie is not possible");
        bytes32 questionId = questionOf[requestId];
        bool result = payouts[0] == 1;
        emit QuestionReported(questionId, requestId, result);
        adapter.reportOutcome(questionId, result);
        emit QuestionResolved(questionId, result);
    }
}
