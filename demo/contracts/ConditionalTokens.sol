// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Collateral} from "./Collateral.sol";

/// Conditions, their two outcome tokens (ERC-1155) and their results. Ids follow the formulas of
/// the real contract, so that a reader of the events alone derives these tokens.
contract ConditionalTokens {
    event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount);
    event ConditionResolution(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount, uint256[] payoutNumerators);
    event PositionSplit(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount);
    event PositionsMerge(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount);
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    /// The prime of the field of the curve y^2 = x^3 + 3.
    uint256 private constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

    mapping(address account => mapping(uint256 id => uint256)) public balanceOf;
    mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;
    mapping(bytes32 conditionId => bool) public isPrepared;
    mapping(bytes32 conditionId => bool) public isResolved;
    mapping(address collateral => mapping(bytes32 conditionId => uint256[])) private _positionIds;

    function prepareCondition(address oracle, bytes32 questionId, uint256 outcomeSlotCount) external {
        require(outcomeSlotCount == 2, "two outcomes only");
        bytes32 conditionId = getConditionId(oracle, questionId);
        require(!isPrepared[conditionId], "prepared before");
        isPrepared[conditionId] = true;
        emit ConditionPreparation(conditionId, oracle, questionId, 2);
    }

    /// The caller is the oracle: a result of anybody else would be that of another condition.
    function reportPayouts(bytes32 questionId, uint256[] calldata payouts) external {
        bytes32 conditionId = getConditionId(msg.sender, questionId);
        require(isPrepared[conditionId] && !isResolved[conditionId], "not open");
        require(payouts.length == 2 && payouts[0] + payouts[1] > 0, "no payout");
        isResolved[conditionId] = true;
        emit ConditionResolution(conditionId, msg.sender, questionId, 2, payouts);
    }

    /// Gives each holder `amount` of both outcomes, for as much collateral of the caller.
    function splitPosition(address collateral, bytes32 conditionId, uint256 amount, address[] calldata holders) external {
        require(isPrepared[conditionId], "not prepared");
        Collateral(collateral).transferFrom(msg.sender, address(this), amount * holders.length);
        uint256[] memory ids = positionIds(collateral, conditionId);
        for (uint256 i = 0; i < holders.length; i++) {
            balanceOf[holders[i]][ids[0]] += amount;
            balanceOf[holders[i]][ids[1]] += amount;
            emit TransferBatch(msg.sender, address(0), holders[i], ids, _pair(amount, amount));
        }
        emit PositionSplit(msg.sender, collateral, bytes32(0), conditionId, _pair(1, 2), amount * holders.length);
    }

    /// Turns `amount` of each outcome back into `amount` of collateral.
    function mergePositions(address collateral, bytes32 conditionId, uint256 amount) external {
        uint256[] memory ids = positionIds(collateral, conditionId);
        for (uint256 i = 0; i < 2; i++) balanceOf[msg.sender][ids[i]] -= amount;
        emit TransferBatch(msg.sender, msg.sender, address(0), ids, _pair(amount, amount));
        Collateral(collateral).transfer(msg.sender, amount);
        emit PositionsMerge(msg.sender, collateral, bytes32(0), conditionId, _pair(1, 2), amount);
    }

    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }

    function transferFrom(address from, address to, uint256 id, uint256 amount) external {
        require(msg.sender == from || isApprovedForAll[from][msg.sender], "not approved");
        balanceOf[from][id] -= amount;
        balanceOf[to][id] += amount;
        emit TransferSingle(msg.sender, from, to, id, amount);
    }

    function getConditionId(address oracle, bytes32 questionId) public pure returns (bytes32) {
        return keccak256(abi.encodePacked(oracle, questionId, uint256(2)));
    }

    /// The tokens of outcome 0 and outcome 1; computed once, for the curve is costly.
    function positionIds(address collateral, bytes32 conditionId) public returns (uint256[] memory) {
        uint256[] storage ids = _positionIds[collateral][conditionId];
        if (ids.length == 0) {
            ids.push(_positionId(collateral, conditionId, 1));
            ids.push(_positionId(collateral, conditionId, 2));
        }
        return ids;
    }

    /// A collection is a point of the curve: the first x after the hash that has a y, and in bit
    /// 254 the parity of the y that is meant, which the hash's top bit tells.
    function _positionId(address collateral, bytes32 conditionId, uint256 indexSet) private pure returns (uint256) {
        uint256 hash = uint256(keccak256(abi.encodePacked(conditionId, indexSet)));
        uint256 x = hash;
        do {
            x = addmod(x, 1, P);
        } while (!_isSquare(addmod(mulmod(mulmod(x, x, P), x, P), 3, P)));
        uint256 collectionId = x | ((hash >> 255) << 254);
        return uint256(keccak256(abi.encodePacked(collateral, collectionId)));
    }

    /// Euler's criterion: what has a root is 1 to the power of half of P, what has none is -1.
    function _isSquare(uint256 value) private pure returns (bool) {
        uint256 power = 1;
        for (uint256 exponent = (P - 1) / 2; exponent > 0; exponent >>= 1) {
            if (exponent & 1 == 1) power = mulmod(power, value, P);
            value = mulmod(value, value, P);
        }
        return power != P - 1;
    }

    function _pair(uint256 first, uint256 second) private pure returns (uint256[] memory pair) {
        pair = new uint256[](2);
        pair[0] = first;
        pair[1] = second;
    }
}
