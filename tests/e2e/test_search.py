"""What is recorded is found a moment later, by the worker that `make up` runs."""

import httpx

from tests.e2e.product import Product
from tests.waiting import wait_until


def test_a_recorded_step_is_found_without_anybody_asking_for_its_indexing(product: Product) -> None:
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
