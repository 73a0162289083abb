// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// ConditionalTokens, or the neg-risk operator in its place.
interface IConditions {
    function prepareCondition(address oracle, bytes32 questionId, uint256 outcomeSlotCount) external;
    function reportPayouts(bytes32 questionId, uint256[] calldata payouts) external;
}

/// Asks questions in words and answers them. The account that asked also answers: there is no oracle.
contract UmaAdapter {
    event QuestionInitialized(bytes32 indexed questionID, uint256 indexed requestTimestamp, address indexed creator, bytes ancillaryData, address rewardToken, uint256 reward, uint256 proposalBond);
    event QuestionResolved(bytes32 indexed questionID, int256 indexed settledPrice, uint256[] payouts);

    IConditions private immutable conditions;
    address private immutable rewardToken;
    mapping(bytes32 questionId => address) public creatorOf;

    constructor(IConditions conditions_, address rewardToken_) {
        conditions = conditions_;
        rewardToken = rewardToken_;
    }

    /// The id of a question is the hash of its text with the name of who asked.
    function initialize(bytes calldata text, uint256 reward, uint256 bond) external {
        bytes memory data = abi.encodePacked(text, ",initializer:", _hexOf(msg.sender));
        bytes32 questionId = keccak256(data);
        require(creatorOf[questionId] == address(0), "asked before");
        creatorOf[questionId] = msg.sender;
        conditions.prepareCondition(address(this), questionId, 2);
        emit QuestionInitialized(questionId, block.timestamp, msg.sender, data, rewardToken, reward, bond);
    }

    /// A price of 1 is the first outcome, 0 the second, a half both, all with 18 decimals.
    function resolve(bytes32 questionId, int256 price) external {
        require(msg.sender == creatorOf[questionId], "not the creator");
        require(price == 0 || price == 0.5 ether || price == 1 ether, "no such price");
        uint256[] memory payouts = new uint256[](2);
        payouts[0] = price > 0 ? 1 : 0;
        payouts[1] = price < 1 ether ? 1 : 0;
        conditions.reportPayouts(questionId, payouts);
        emit QuestionResolved(questionId, price, payouts);
    }

    /// 40 lower-case digits, without the prefix.
    function _hexOf(address account) private pure returns (bytes memory digits) {
        digits = new bytes(40);
        for (uint256 i = 0; i < 40; i++) {
            digits[i] = bytes16("0123456789abcdef")[(uint160(account) >> (4 * (39 - i))) & 15];
        }
    }
}
