"""Recorded steps are found a moment later, as the worker of `make up` indexes them."""

import httpx

from tests.e2e.product import Product
from tests.waiting import wait_until


def test_a_recorded_step_is_indexed_automatically(product: Product) -> None:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as api:
        session = api.post("/sessions", json={"name": "Nightly"}).json()["id"]
        actions = [
            {"kind": "message", "role": "user", "output": f"step {n} at src/app.py:{n}"} for n in range(1_000)
        ]
        assert api.post(f"/sessions/{session}/actions", json={"actions": actions}).status_code == 201

        def found() -> list[int]:
            answer = api.get("/search", params={"q": "app.py:977", "mode": "text"}).json()
            return [hit["sequence"] for item in answer["items"] for hit in item["hits"]]

        wait_until(found, seconds=30)
        assert found() == [978]
        wait_until(lambda: api.get("/search", params={"q": "step"}).json()["not_indexed"] == 0, seconds=30)
