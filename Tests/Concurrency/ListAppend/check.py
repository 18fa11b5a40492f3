"""check.py - is there an order of the transactions in which each sees what those before it did, and none after it?

A history is a list of transactions. Each appends values of its own to lists, and reads lists as a whole:

    {"ops": [["a", key, value], ["r", key, [values]], ...], "begun": t, "ended": t, "result": "ok"}

`result` is "ok" for a commit that was acknowledged, "failed" for what was rolled back, "unknown" where the process was
killed before it could tell. Times are of one clock. `final` has each list as it stands in the end.

Values are never used twice, so a list tells in which order its writers committed, and a read tells between which two of
them it stands. So lost and dirty writes, dirty and stale reads and mixed snapshots all show. What is left of them is a
circle: of writers, of readers after writers, of writers after readers, and of those that ended before others began.
"""


def faults(history, final, readers=True):
    """The faults of the history, as texts; none if it is in order. readers: those that only read have a place in the order, too."""
    found = []
    writer = {}
    for number, one in enumerate(history):
        for kind, key, value in one["ops"]:
            if kind == "a":
                writer[value] = number
    place = {}
    for key, values in final.items():
        if len(set(values)) != len(values):
            found.append(f"list {key} has a value twice: {values}")
        for index, value in enumerate(values):
            place[value] = (key, index)
            if value not in writer:
                found.append(f"list {key} has {value}, which nobody appended")
            elif history[writer[value]]["result"] == "failed":
                found.append(f"list {key} has {value}, of a transaction that was rolled back")
    for number, one in enumerate(history):
        appended = [(key, value) for kind, key, value in one["ops"] if kind == "a"]
        there = [value in place for _, value in appended]
        if one["result"] == "ok" and not all(there):
            found.append(f"transaction {number} was acknowledged, and lost: {appended}")
        if any(there) and not all(there):
            found.append(f"transaction {number} is there in part: {appended}")
    found += [text for number, one in enumerate(history) for text in faults_of_reads(number, one, history, final, writer)]
    return found or circle(history, final, writer, place, readers)


def faults_of_reads(number, one, history, final, writer):
    own = {}
    for kind, key, value in one["ops"]:
        if kind == "a":
            own.setdefault(key, []).append(value)
            continue
        mine = own.get(key, [])
        if mine and value[-len(mine):] != mine:
            yield f"transaction {number} does not see its own values {mine} in list {key}: {value}"
            continue
        others = value[: len(value) - len(mine)]
        if others != final.get(key, [])[: len(others)]:
            yield f"transaction {number} read {value} of list {key}, which is {final.get(key, [])} in the end"
            continue
        if others:
            last = writer.get(others[-1])
            theirs = [v for k, list_key, v in history[last]["ops"] if k == "a" and list_key == key]
            if last != number and theirs[-1] != others[-1]:
                yield f"transaction {number} read {others[-1]} of list {key}, and not {theirs[-1]} of the same transaction"


def circle(history, final, writer, place, readers):
    """Transactions that there is no order for, as one text in a list; or none."""
    counted = [n for n, one in enumerate(history) if one["result"] == "ok" or any(
        op[0] == "a" and op[2] in place for op in one["ops"])]
    if not readers:
        counted = [n for n in counted if any(op[0] == "a" for op in history[n]["ops"])]
    after = {n: set() for n in counted}
    for values in final.values():
        for left, right in zip(values, values[1:]):
            if writer[left] != writer[right]:
                after[writer[left]].add(writer[right])
    for n in counted:
        mine = {op[2] for op in history[n]["ops"] if op[0] == "a"}
        for kind, key, value in history[n]["ops"]:
            if kind != "r":
                continue
            seen = [v for v in value if v not in mine]
            if seen and writer[seen[-1]] != n:
                after[writer[seen[-1]]].add(n)
            later = final.get(key, [])[len(seen):]
            if later and writer[later[0]] != n:
                after[n].add(writer[later[0]])
    # Time is a chain of moments: a transaction leads to the one of its end, which leads to all that begin later.
    ended = sorted((history[n]["ended"], n) for n in counted if history[n]["result"] == "ok")
    for moment, (time, n) in enumerate(ended):
        after[("moment", moment)] = {("moment", moment + 1)} if moment + 1 < len(ended) else set()
        after[n].add(("moment", moment))
    times = [time for time, _ in ended]
    import bisect
    for n in counted:
        moment = bisect.bisect_left(times, history[n]["begun"]) - 1
        if moment >= 0:
            after[("moment", moment)].add(n)
    before = {node: 0 for node in after}
    for targets in after.values():
        for target in targets:
            before[target] += 1
    free = [node for node, count in before.items() if count == 0]
    while free:
        node = free.pop()
        for target in after.pop(node):
            before[target] -= 1
            if before[target] == 0:
                free.append(target)
    left = set(after)
    while True:  # what only follows the circle goes
        ends = [node for node in left if not (after[node] & left)]
        if not ends:
            break
        left -= set(ends)
    if not left:
        return []
    node = min((n for n in left if isinstance(n, int)), default=None)
    path, at = [], node
    while at not in path:
        path.append(at)
        at = min(after[at] & left, key=str)
    names = [str(n) for n in path[path.index(at):] if isinstance(n, int)]
    texts = "; ".join(f"{n}: {history[int(n)]['ops']}" for n in names[:8])
    return [f"no order for transactions {' -> '.join(names)} -> ...: {texts}"]


def self_test():
    def one(ops, begun, ended, result="ok"):
        return {"ops": ops, "begun": begun, "ended": ended, "result": result}

    good = [one([["a", "x", 1]], 0, 1), one([["r", "x", [1]], ["a", "y", 2]], 2, 3),
            one([["a", "x", 3], ["r", "x", [1, 3]]], 2, 4), one([["r", "x", [1, 3]], ["r", "y", [2]]], 5, 6),
            one([["a", "x", 9]], 2, 3, "failed"), one([["a", "y", 8]], 2, 9, "unknown")]
    final = {"x": [1, 3], "y": [2]}
    assert faults(good, final) == [], faults(good, final)
    planted = {
        "a lost update": (good, {"x": [1], "y": [2]}),
        "a value that was rolled back": (good, {"x": [1, 3, 9], "y": [2]}),
        "a value twice": (good, {"x": [1, 3, 1], "y": [2]}),
        "a read that is no prefix": (good + [one([["r", "x", [3]]], 7, 8)], final),
        "a dirty read": (good + [one([["r", "x", [1, 3, 9]]], 7, 8)], final),
        "a stale read": (good + [one([["r", "x", [1]]], 7, 8)], final),
        "two snapshots": ([one([["a", "x", 1], ["a", "y", 2]], 0, 9), one([["r", "x", [1]], ["r", "y", []]], 0, 9)],
                          {"x": [1], "y": [2]}),
        "half of a transaction": ([one([["a", "x", 1], ["a", "x", 2]], 0, 9), one([["r", "x", [1]]], 0, 9)],
                                  {"x": [1, 2]}),
        "write skew": ([one([["r", "x", []], ["a", "y", 1]], 0, 9), one([["r", "y", []], ["a", "x", 2]], 0, 9)],
                       {"x": [2], "y": [1]}),
        "writers in two orders": ([one([["a", "x", 1], ["a", "y", 2]], 0, 9), one([["a", "x", 3], ["a", "y", 4]], 0, 9)],
                                  {"x": [1, 3], "y": [4, 2]}),
        "its own value unseen": ([one([["a", "x", 1], ["r", "x", []]], 0, 9)], {"x": [1]}),
        "a transaction in part": ([one([["a", "x", 1], ["a", "y", 2]], 0, 9, "unknown")], {"x": [1]}),
    }
    for name, (history, lists) in planted.items():
        assert faults(history, lists), f"the checker does not see {name}"
    return len(planted)
