#!/usr/bin/env python3
"""Repeats the steps of a Kineto trace until the file has a given size, for measuring imports.

usage: large_trace.py TRACE.json BYTES OUT.json [--gpu]
Every copy is one more ProfilerStep: its events move behind the ones before, and correlations
stay unique. The file is indented as PyTorch's profiler writes it; with --gpu it is dense: only
steps, GPU work and its launches, without blanks.
"""
import json
import sys


def main():
    source, wanted, target = sys.argv[1], int(float(sys.argv[2])), sys.argv[3]
    with open(source) as file:
        trace = json.load(file)
    events = trace.pop("traceEvents")
    indent = 2
    if "--gpu" in sys.argv[4:]:
        wanted_categories = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "user_annotation")
        events = [e for e in events if e.get("cat") in wanted_categories]
        indent = None
    timed = [e for e in events if e.get("ph") == "X"]
    span = max(e["ts"] + e.get("dur", 0) for e in timed) - min(e["ts"] for e in timed) + 1000
    correlations = max((e["args"].get("correlation", 0) for e in timed if "args" in e), default=0)
    with open(target, "w") as out:
        head = json.dumps(trace, indent=2)[:-2]
        out.write(head + ',\n  "traceEvents": [')
        copy = 0
        first = True
        while out.tell() < wanted:
            text = []
            for event in events:
                event = dict(event)
                if "ts" in event:
                    event["ts"] += copy * span
                if event.get("name", "").startswith("ProfilerStep#"):
                    event["name"] = f"ProfilerStep#{copy}"
                if "correlation" in event.get("args", {}):
                    event["args"] = dict(event["args"])
                    event["args"]["correlation"] += copy * (correlations + 1)
                text.append(json.dumps(event, indent=indent))
            out.write(("" if first else ",") + "\n" + ",\n".join(text))
            first = False
            copy += 1
        out.write("\n]}\n")
    print(f"{copy} steps")


main()
