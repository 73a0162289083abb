// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A dollar with 6 decimals. Its owner alone makes and destroys money: the deployer that of the
/// plain dollar, the neg-risk adapter that of the dollar which wraps it.
contract Collateral {
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Approval(address indexed owner, address indexed spender, uint256 amount);

    uint8 public constant decimals = 6;
    string public symbol;
    address public immutable owner;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    constructor(string memory symbol_, address owner_) {
        symbol = symbol_;
        owner = owner_;
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == owner, "only the owner mints");
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function burn(uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        emit Transfer(msg.sender, address(0), amount);
    }

    function approve(address spender, uint256 amount) external {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}
