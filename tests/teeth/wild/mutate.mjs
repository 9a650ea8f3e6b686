// Prints the mutants of a JavaScript module as JSON: [{operator, start, end, text, line, definition}], in the order of the
// source. `node mutate.mjs FILE`.
import { readFileSync } from "node:fs";
import { parse } from "acorn";

const SWAPPED = {
  "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
  "+": "-", "-": "+", "*": "/", "/": "*", "&&": "||", "||": "&&", "??": "&&", "+=": "-=", "-=": "+=",
};
const METHODS = {
  push: "unshift", unshift: "push", shift: "pop", pop: "shift", some: "every", every: "some", filter: "map",
  slice: "concat", has: "delete", find: "findLast", all: "race",
};

const source = readFileSync(process.argv[2], "utf8");
const found = [];
const text = (node) => source.slice(node.start, node.end);
const nameOf = (node) => node?.name ?? (node && node.type === "Literal" ? String(node.value) : node?.name);

function add(operator, node, replacement, definition) {
  found.push({
    operator, start: node.start, end: node.end, text: replacement, line: node.loc.start.line, definition: definition.join("."),
  });
}

function condition(node, definition) {
  add("NegateCondition", node, `!(${text(node)})`, definition);
  add("TrueCondition", node, "true", definition);
  add("FalseCondition", node, "false", definition);
}

function visit(node, definition, parent, key) {
  const inside = definition.length > 0;
  if (inside) {
    switch (node.type) {
      case "ExpressionStatement": add("RemoveStatement", node, ";", definition); break;
      case "IfStatement": case "WhileStatement": case "DoWhileStatement": case "ConditionalExpression":
        condition(node.test, definition); break;
      case "ForStatement": if (node.test) condition(node.test, definition); break;
      case "BinaryExpression": case "LogicalExpression": case "AssignmentExpression":
        if (SWAPPED[node.operator]) {
          const [left, right] = [node.left, node.right];
          add("SwapOperator", node, `${text(left)} ${SWAPPED[node.operator]} (${text(right)})`, definition);
        }
        break;
      case "UpdateExpression":
        add("SwapOperator", node, node.operator === "++" ? `${text(node.argument)}--` : `${text(node.argument)}++`, definition);
        break;
      case "UnaryExpression": if (node.operator === "!") add("RemoveNot", node, text(node.argument), definition); break;
      case "AwaitExpression": add("RemoveAwait", node, `(${text(node.argument)})`, definition); break;
      case "ReturnStatement": if (node.argument) add("ReturnNothing", node, "return;", definition); break;
      case "BreakStatement": add("BreakContinue", node, "continue;", definition); break;
      case "ContinueStatement": add("BreakContinue", node, "break;", definition); break;
      case "Literal":
        if (key === "source" || (key === "key" && !parent.computed)) break;
        if (typeof node.value === "boolean") add("Literal", node, String(!node.value), definition);
        else if (typeof node.value === "number") add("Literal", node, String(node.value + 1), definition);
        else if (typeof node.value === "string") add("Literal", node, JSON.stringify(`${node.value}x`), definition);
        break;
      case "ArrayExpression": if (node.elements.length) add("EmptyArray", node, "[]", definition); break;
      case "Property":
        if (parent.type === "ObjectExpression") add("RemoveProperty", node, "...{}", definition);
        break;
      case "CallExpression":
        if (node.callee.type === "MemberExpression" && !node.callee.computed && Object.hasOwn(METHODS, node.callee.property.name))
          add("SwapMethod", node.callee.property, METHODS[node.callee.property.name], definition);
        break;
      case "TryStatement":
        if (node.finalizer) add("RemoveFinally", node.finalizer, "{}", definition);
        if (node.handler) add("EmptyCatch", node.handler.body, "{}", definition);
        break;
    }
  }
  const name =
    node.type === "FunctionDeclaration" || node.type === "ClassDeclaration" ? nameOf(node.id)
    : node.type === "MethodDefinition" ? nameOf(node.key)
    : node.type === "VariableDeclarator" && /Function/.test(node.init?.type ?? "") ? nameOf(node.id)
    : undefined;
  const inner = name ? [...definition, name] : definition;
  for (const [field, child] of Object.entries(node)) {
    if (field === "loc") continue;
    for (const one of Array.isArray(child) ? child : [child])
      if (one && typeof one.type === "string") visit(one, inner, node, field);
  }
}

visit(parse(source, { ecmaVersion: "latest", sourceType: "module", locations: true }), [], null, "");
// A statement that stands twice under another operator (an expression of its own) is one mutant.
const seen = new Set();
console.log(JSON.stringify(found.filter((one) => {
  const key = `${one.start} ${one.end} ${one.text}`;
  return !seen.has(key) && seen.add(key);
})));
